//! The numbers of conversations, ends, computers and flows, each of a type of its own. No other module computes with them.

use slowhand_net::address::Host;
use slowhand_sessions::Role;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A number of something that has a row in each [`Table`] of its kind.
pub(crate) trait Id: Copy {
    fn of_row(row: usize) -> Self;

    /// Its place among all of its kind.
    fn row(self) -> usize;
}

macro_rules! ids {
    ($($(#[$about:meta])* $visibility:vis $name:ident)*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $name(usize);

        impl Id for $name {
            fn of_row(row: usize) -> Self {
                Self(row)
            }

            fn row(self) -> usize {
                self.0
            }
        }
    )*};
}

ids! {
    /// A conversation of a world. After [`Live::close`](crate::live::Live::close) another one may have its number.
    pub ConversationId

    /// An end of a conversation. The client's end of the first conversation comes first, then the server's, then those of the
    /// second.
    pub(crate) EndId

    /// The computer of a host: those of the nodes come first, then those of hosts on the Internet.
    pub(crate) ComputerId

    /// A flow of other traffic.
    pub(crate) FlowId
}

impl ConversationId {
    #[cfg(test)]
    pub(crate) const FIRST: Self = Self(0);
    #[cfg(test)]
    pub(crate) const SECOND: Self = Self(1);

    /// Its ends, the client's first.
    pub(crate) fn ends(self) -> [EndId; 2] {
        Role::BOTH.map(|role| EndId::of(self, role))
    }
}

impl EndId {
    pub(crate) const fn of(conversation: ConversationId, role: Role) -> Self {
        Self(2 * conversation.0 + role as usize)
    }

    pub(crate) const fn conversation(self) -> ConversationId {
        ConversationId(self.0 / 2)
    }

    /// Which end of its conversation it is.
    pub(crate) const fn role(self) -> Role {
        if self.0.is_multiple_of(2) { Role::Client } else { Role::Server }
    }

    /// The other end of its conversation.
    pub(crate) const fn peer(self) -> Self {
        Self::of(self.conversation(), self.role().peer())
    }
}

impl ComputerId {
    /// The computer of a host in a world with so many nodes. On the Internet there is one for each of these numbers.
    pub(crate) fn of(host: Host, nodes: usize, on_internet: usize) -> Self {
        match host {
            Host::Node(node) => Self(node.index()),
            Host::Internet => Self(nodes + on_internet),
        }
    }
}

/// The number of an end among those of all pairs of ends, if its pair has this number. Random numbers follow from it.
pub(crate) const fn number_of(pair: u64, role: Role) -> u64 {
    pair.wrapping_mul(2) + role as u64
}

/// A row for each number of a kind.
#[derive(Clone, Debug)]
pub(crate) struct Table<I, T> {
    rows: Vec<T>,
    kind: PhantomData<I>,
}

impl<I: Id, T> Table<I, T> {
    /// The number of the next row.
    pub(crate) fn next(&self) -> I {
        I::of_row(self.rows.len())
    }

    /// Adds the next row.
    pub(crate) fn push(&mut self, row: T) {
        self.rows.push(row);
    }

    /// Writes a row in the place of another, which it returns, or adds the next row.
    pub(crate) fn put(&mut self, id: I, row: T) -> Option<T> {
        debug_assert!(id.row() <= self.rows.len(), "no row is left out");
        match self.rows.get_mut(id.row()) {
            Some(place) => Some(std::mem::replace(place, row)),
            None => {
                self.rows.push(row);
                None
            }
        }
    }

    /// The numbers of all rows.
    pub(crate) fn ids(&self) -> impl Iterator<Item = I> + Clone + use<I, T> {
        (0..self.rows.len()).map(I::of_row)
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.rows.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.rows.iter_mut()
    }
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Self { rows: Vec::new(), kind: PhantomData }
    }
}

impl<I, T> FromIterator<T> for Table<I, T> {
    fn from_iter<R: IntoIterator<Item = T>>(rows: R) -> Self {
        Self { rows: rows.into_iter().collect(), kind: PhantomData }
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.rows[id.row()]
    }
}

impl<I: Id, T> IndexMut<I> for Table<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.rows[id.row()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowhand_net::address::NodeId;

    #[test]
    fn the_ends_of_all_conversations_have_the_next_numbers_in_turn() {
        let ends: Vec<EndId> = (0..3).map(ConversationId::of_row).flat_map(ConversationId::ends).collect();
        assert_eq!(ends.iter().map(|end| end.row()).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        let last = ends[5];
        assert_eq!((last.conversation().row(), last.role(), last.peer()), (2, Role::Server, ends[4]));
        assert_eq!((ends[4].conversation().row(), ends[4].role(), ends[4].peer()), (2, Role::Client, last));
    }

    #[test]
    fn computers_on_the_internet_come_after_those_of_the_nodes() {
        let of = |host, on_internet| ComputerId::of(host, 4, on_internet).row();
        assert_eq!([of(Host::Node(NodeId(3)), 1), of(Host::Internet, 0), of(Host::Internet, 1)], [3, 4, 5]);
    }

    #[test]
    fn a_row_takes_the_place_of_another_or_comes_last() {
        let mut table: Table<ConversationId, char> = Table::default();
        let [first, second] = [ConversationId::FIRST, ConversationId::SECOND];
        assert_eq!([table.put(first, 'a'), table.put(second, 'b'), table.put(first, 'c')], [None, None, Some('a')]);
        assert_eq!((table[first], table[second], table.next().row()), ('c', 'b', 2));
    }
}
