//! The functions that a client and a server have in common.

/// Defines them with these names, for the `Engine` of the module that calls it; the other names in it are those of that module too.
macro_rules! common {
    ($size:ident, $new:ident, $deadline:ident, $handle_timeout:ident, $drop:ident) => {
        const _: () =
            assert!(align_of::<Handle<Engine>>() <= align_of::<u64>(), "the header's storage is not aligned enough");

        /// Octets that a client or a server needs.
        #[unsafe(no_mangle)]
        pub const extern "C" fn $size() -> usize {
            size_of::<Handle<Engine>>()
        }

        /// Makes a client or a server in the caller's storage.
        ///
        /// # Safety
        /// `this` is null or points to `size` octets. The configuration is null or right, and its identities and keys stay where
        /// they are, and as they are, as long as it is used.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $new(this: *mut Handle<Engine>, size: usize, settings: *const Settings) -> Error {
            // SAFETY: the caller's promises.
            unsafe { Handle::make(this, size, || Ok(Engine::new(config(settings)?, crypto()))) }
        }

        /// When to handle a timeout.
        ///
        /// # Safety
        /// `this` is null, or storage that was zeroed or used before.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $deadline(this: *const Handle<Engine>) -> u64 {
            // SAFETY: the caller's promise.
            let deadline = unsafe { Handle::look(this, Engine::deadline) };
            deadline.ok().flatten().map_or(NEVER, Instant::as_millis)
        }

        /// Does what is due.
        ///
        /// # Safety
        /// As above.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $handle_timeout(this: *mut Handle<Engine>, now_ms: u64) {
            // SAFETY: the caller's promise.
            let _ = unsafe { Handle::with(this, |engine| engine.handle_timeout(Instant::from_millis(now_ms))) };
        }

        /// Wipes the keys.
        ///
        /// # Safety
        /// As above.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $drop(this: *mut Handle<Engine>) {
            // SAFETY: the caller's promise.
            unsafe { Handle::take(this) };
        }
    };
}
