//! The state of `lakers` between two messages, wiped when it goes. The copies that it makes while it computes are not.

use std::fmt;
use std::ops::{Deref, DerefMut};

use lakers::{
    Completed, InitiatorStart, ProcessedM2, ProcessedM3, ProcessingM1, ProcessingM2, ProcessingM3, ResponderStart,
    WaitM2, WaitM3, WaitM4,
};
use zeroize::Zeroize;

/// A state with secrets.
pub(super) trait Wipe {
    /// Overwrites them.
    fn wipe(&mut self);
}

/// It overwrites its secrets when it goes.
pub(super) struct Wiped<T: Wipe>(pub(super) T);

/// Secrets are not printed.
impl<T: Wipe> fmt::Debug for Wiped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wiped")
    }
}

impl<T: Wipe> Drop for Wiped<T> {
    fn drop(&mut self) {
        self.0.wipe();
    }
}

impl<T: Wipe> Deref for Wiped<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Wipe> DerefMut for Wiped<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

macro_rules! wipe {
    ($($state:ident: $($secret:ident)+;)+) => { $(
        impl Wipe for $state {
            fn wipe(&mut self) {
                $(self.$secret.zeroize();)+
            }
        }
    )+ };
}

wipe! {
    InitiatorStart: x;
    WaitM2: x;
    ProcessingM2: x prk_2e;
    ProcessedM2: prk_3e2m prk_4e3m;
    WaitM4: prk_4e3m prk_out prk_exporter;
    ResponderStart: y;
    ProcessingM1: y;
    WaitM3: y prk_3e2m;
    ProcessingM3: y prk_3e2m;
    ProcessedM3: prk_4e3m prk_out prk_exporter;
    Completed: prk_out prk_exporter;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_overwritten() {
        let mut state =
            Wiped(ProcessedM3 { prk_4e3m: [1; 32], th_4: [2; 32], prk_out: [3; 32], prk_exporter: [4; 32] });
        state.wipe();
        assert_eq!((state.prk_4e3m, state.prk_out, state.prk_exporter), ([0; 32], [0; 32], [0; 32]));
        assert_eq!(state.th_4, [2; 32], "a hash of what the peer has seen");
    }
}
