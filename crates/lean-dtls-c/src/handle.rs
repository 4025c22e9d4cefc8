//! Storage of C that holds an engine, or nothing.

use core::mem::MaybeUninit;

use crate::Error;

/// A type that can be in storage.
pub trait Marked {
    /// The number in storage that holds one. (Any numbers but 0, which is the storage of a static variable in C; these are ASCII.)
    const MARK: u64;
}

/// The storage of C.
#[repr(C)]
pub struct Handle<E> {
    /// `E::MARK` if there is an engine, and no call uses it.
    mark: u64,
    engine: MaybeUninit<E>,
}

impl<E: Marked> Handle<E> {
    /// Puts an engine into storage of `size` octets.
    ///
    /// # Safety
    /// If the pointer is neither null nor misaligned, there are `size` octets that nobody else uses.
    pub(crate) unsafe fn make(this: *mut Self, size: usize, engine: impl FnOnce() -> Result<E, Error>) -> Error {
        if this.is_null() || !this.is_aligned() {
            return Error::Null;
        }
        if size < size_of::<Self>() {
            return Error::Storage;
        }
        // SAFETY: the caller's promise. What was there before is not read.
        unsafe { (&raw mut (*this).mark).write(0) };
        match engine() {
            Err(error) => error,
            Ok(engine) => {
                // SAFETY: the same.
                unsafe { this.write(Self { mark: E::MARK, engine: MaybeUninit::new(engine) }) };
                Error::Ok
            }
        }
    }

    /// Uses the engine.
    ///
    /// # Errors
    /// There is none, or a call uses it already.
    ///
    /// # Safety
    /// If the pointer is neither null nor misaligned, there is a handle, or octets without the mark.
    pub(crate) unsafe fn with<R>(this: *mut Self, call: impl FnOnce(&mut E) -> R) -> Result<R, Error> {
        // SAFETY: the caller's promise.
        unsafe { Self::check(this)? };
        // SAFETY: the mark says that there is an engine. Without the mark, no other call uses it meanwhile.
        let result = unsafe {
            (&raw mut (*this).mark).write(0);
            call(&mut *(&raw mut (*this).engine).cast::<E>())
        };
        // SAFETY: it is still there: only `take` removes it, which needs the mark.
        unsafe { (&raw mut (*this).mark).write(E::MARK) };
        Ok(result)
    }

    /// Looks at the engine.
    ///
    /// # Errors
    /// There is none, or a call uses it.
    ///
    /// # Safety
    /// If the pointer is neither null nor misaligned, there is a handle, or octets without the mark.
    pub(crate) unsafe fn look<R>(this: *const Self, call: impl FnOnce(&E) -> R) -> Result<R, Error> {
        // SAFETY: the caller's promise; the mark says that there is an engine, and that nobody uses it.
        unsafe {
            Self::check(this)?;
            Ok(call(&*(&raw const (*this).engine).cast::<E>()))
        }
    }

    /// Drops the engine, if there is one.
    ///
    /// # Safety
    /// If the pointer is neither null nor misaligned, there is a handle, or octets without the mark.
    pub(crate) unsafe fn take(this: *mut Self) {
        // SAFETY: the caller's promise; the mark says that there is an engine. It is used no more.
        unsafe {
            if Self::check(this).is_ok() {
                (&raw mut (*this).mark).write(0);
                (&raw mut (*this).engine).cast::<E>().drop_in_place();
            }
        }
    }

    /// # Safety
    /// If the pointer is neither null nor misaligned, there are octets for a mark.
    unsafe fn check(this: *const Self) -> Result<(), Error> {
        if this.is_null() || !this.is_aligned() {
            return Err(Error::Null);
        }
        // SAFETY: the caller's promise.
        let mark = unsafe { (&raw const (*this).mark).read() };
        if mark == E::MARK { Ok(()) } else { Err(Error::NotMade) }
    }
}
