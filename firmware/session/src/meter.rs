//! Measures calls, and prints what each took.

use core::hint::black_box;

use crate::{Board, stack};

/// The measurement of calls on a board.
pub(crate) struct Meter<B> {
    /// The time that the measurement itself takes.
    empty: u32,
    board: core::marker::PhantomData<B>,
}

impl<B: Board> Meter<B> {
    pub(crate) fn new() -> Self {
        let mut meter = Self { empty: 0, board: core::marker::PhantomData };
        meter.empty = meter.measure(&mut || 0).1;
        meter
    }

    /// Prints what a call takes: octets of its datagram, time, octets of stack. `call` returns the octets of its datagram.
    pub(crate) fn call(&self, role: &str, name: &str, mut call: impl FnMut() -> usize) -> usize {
        let (octets, taken, depth) = self.measure(&mut call);
        line::<B>(&["call", role, name], &[octets as u32, taken, depth as u32]);
        octets
    }

    #[inline(never)]
    fn measure(&self, call: &mut dyn FnMut() -> usize) -> (usize, u32, usize) {
        let call = black_box(call);
        stack::paint::<B>();
        let before = B::now();
        let octets = call();
        let taken = B::now().wrapping_sub(before).wrapping_sub(self.empty);
        (octets, taken, stack::depth::<B>())
    }
}

/// Prints words and numbers on a line of their own.
pub(crate) fn line<B: Board>(words: &[&str], numbers: &[u32]) {
    for word in words {
        print::<B>(word);
        B::print(b' ');
    }
    for number in numbers {
        print_number::<B>(*number);
        B::print(b' ');
    }
    B::print(b'\n');
}

pub(crate) fn print<B: Board>(text: &str) {
    text.bytes().for_each(B::print);
}

fn print_number<B: Board>(number: u32) {
    if number >= 10 {
        print_number::<B>(number / 10);
    }
    B::print(b'0' + (number % 10) as u8);
}
