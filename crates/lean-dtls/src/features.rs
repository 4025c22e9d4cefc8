//! The cargo features as constants, and what is kept for one of them only.
//!
//! Every module is compiled with every set of features. What belongs to a feature stands behind its constant, or behind a value of
//! type [`If`], [`OrOff`] or [`Slot`], which takes no room without the feature. The compiler then leaves out what would be done with it.
//! `cfg` is for what users of this crate see, and for what needs another crate.

#![allow(dead_code)] // some of it is for features that are on, and some for features that are off

use core::borrow::Borrow;
use core::convert::Infallible;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

pub(crate) const ACKNOWLEDGEMENTS: bool = cfg!(feature = "acknowledgements");
pub(crate) const CERTIFICATES: bool = cfg!(feature = "certificates");
pub(crate) const CONNECTION_ID: bool = cfg!(feature = "connection-id");
pub(crate) const DTLS13: bool = cfg!(feature = "dtls13");
pub(crate) const ECDHE: bool = cfg!(feature = "ecdhe");
pub(crate) const EVICTION: bool = cfg!(feature = "eviction");
pub(crate) const FALSE_START: bool = cfg!(feature = "false-start");
pub(crate) const GCM: bool = cfg!(feature = "gcm");
pub(crate) const HEARTBEAT: bool = cfg!(feature = "heartbeat");
pub(crate) const KNOWN_ADDRESSES: bool = cfg!(feature = "known-addresses");
pub(crate) const LEAN: bool = cfg!(feature = "lean");
pub(crate) const RECORD_LIMITS: bool = cfg!(feature = "record-limits");
pub(crate) const RESUMPTION: bool = cfg!(feature = "resumption");
pub(crate) const ROUND_TRIPS: bool = cfg!(feature = "round-trips");
pub(crate) const VARIABLE_BACKOFF: bool = cfg!(feature = "variable-backoff");

/// `T` with a feature, and a type without values without it.
pub(crate) type If<const IS_ON: bool, T> = <Feature<IS_ON> as Switch>::If<T>;

/// `T` with a feature. Without it always [`Off::OFF`], which nobody changes.
pub(crate) type OrOff<const IS_ON: bool, T> = <Feature<IS_ON> as Switch>::OrOff<T>;

/// A place for a feature: an array of one `T`; without the feature, of none.
pub(crate) type Slot<const IS_ON: bool, T> = <Feature<IS_ON> as Switch>::Slot<T>;

/// A feature that is on or off.
pub(crate) struct Feature<const IS_ON: bool>;

/// A feature decides these types.
pub(crate) trait Switch {
    /// See [`If`](type@If).
    type If<T>: Borrow<T>;

    /// See [`OrOff`](type@OrOff).
    type OrOff<T: Off>;

    /// See [`Slot`](type@Slot).
    type Slot<T>;

    /// Makes a value, if the feature is on.
    fn only<T>(value: impl FnOnce() -> T) -> Option<Self::If<T>>;

    /// Keeps a value, if the feature is on.
    fn or_off<T: Off>(value: T) -> Self::OrOff<T>;

    /// Puts a value into a slot, if the feature is on.
    fn slot<T>(value: impl FnOnce() -> T) -> Self::Slot<T>;

    /// Looks at a value, which is there only if the feature is on.
    #[inline(always)]
    fn borrow<T>(value: &Option<Self::If<T>>) -> Option<&T> {
        value.as_ref().map(Borrow::borrow)
    }
}

impl Switch for Feature<true> {
    type If<T> = T;
    type OrOff<T: Off> = T;
    type Slot<T> = [T; 1];

    #[inline(always)]
    fn only<T>(value: impl FnOnce() -> T) -> Option<T> {
        Some(value())
    }

    #[inline(always)]
    fn or_off<T: Off>(value: T) -> T {
        value
    }

    #[inline(always)]
    fn slot<T>(value: impl FnOnce() -> T) -> [T; 1] {
        [value()]
    }
}

impl Switch for Feature<false> {
    type If<T> = Never<T>;
    type OrOff<T: Off> = Fixed<T>;
    type Slot<T> = [T; 0];

    #[inline(always)]
    fn only<T>(_: impl FnOnce() -> T) -> Option<Never<T>> {
        None
    }

    #[inline(always)]
    fn or_off<T: Off>(_: T) -> Fixed<T> {
        Fixed(PhantomData)
    }

    #[inline(always)]
    fn slot<T>(_: impl FnOnce() -> T) -> [T; 0] {
        []
    }
}

/// A type of which one value holds without the feature.
pub(crate) trait Off: 'static {
    /// That value.
    const OFF: &'static Self;
}

impl Off for bool {
    const OFF: &'static Self = &false;
}

impl<T: 'static> Off for Option<T> {
    const OFF: &'static Self = &None;
}

/// True if a flag is, which may be that of a feature that is off.
pub(crate) const fn is(flag: &bool) -> bool {
    *flag
}

/// A value of a feature that is off: there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Never<T>(Infallible, PhantomData<T>);

impl<T> Deref for Never<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        match self.0 {}
    }
}

impl<T> DerefMut for Never<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        match self.0 {}
    }
}

impl<T> Borrow<T> for Never<T> {
    #[inline(always)]
    fn borrow(&self) -> &T {
        self
    }
}

/// A value of a feature that is off: always the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fixed<T>(PhantomData<T>);

impl<T: Off> Deref for Fixed<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        T::OFF
    }
}
