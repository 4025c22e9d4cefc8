//! A program that has other libraries with the same names: those of `symbols.c`, and the system's OpenSSL if there is
//! one. Each side calls its own functions.
#![allow(missing_docs)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use slowhand_sessions::{Role, SessionConfig, Stack, Weightless, build, memory};

#[link(name = "slowhand_decoy", kind = "static")]
unsafe extern "C" {
    fn SSL_new(context: *mut c_void) -> *mut c_void;
    fn RAND_bytes(octets: *mut u8, length: c_int) -> c_int;
    fn mbedtls_ssl_init(session: *mut c_void);
    fn dtls_new_context(data: *mut c_void) -> *mut c_void;
    fn slowhand_decoy_calls() -> c_int;
}

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, symbol: *const c_char) -> *mut c_void;
}

/// `RTLD_NOW | RTLD_GLOBAL` of glibc: the symbols are for all libraries that the program loads later.
const NOW_AND_GLOBAL: c_int = 0x102;

fn handshakes() {
    for stack in Stack::BUILT_IN.iter().copied() {
        for protocol in stack.capabilities().protocols() {
            let kind = stack.capabilities().credentials[0];
            let end = |role, seed| {
                let config = SessionConfig::new(role, stack, protocol.family(), kind.into());
                let mut config = SessionConfig { seed: [seed; 32], ..config };
                // TLS 1.3 has no suites with a pre-shared key here.
                if config.validate().is_err() {
                    config.credential = stack.capabilities().asymmetric_credential().into();
                }
                build(&config, Arc::new(Weightless)).unwrap()
            };
            let (mut client, mut server) = (end(Role::Client, 1), end(Role::Server, 2));
            let transcript = memory::Path::default().run(&mut *client, &mut *server);
            assert_eq!(transcript.end, memory::End::Completed, "{stack} {protocol}");
        }
    }
}

#[test]
fn each_side_calls_its_own_functions() {
    handshakes();
    // SAFETY: the functions of symbols.c take any pointer and any number.
    unsafe {
        assert_eq!(slowhand_decoy_calls(), 0);
        let mut octet = 0;
        let here = ptr::from_mut(&mut octet);
        assert_eq!(SSL_new(here.cast()), here.cast());
        assert_eq!(RAND_bytes(here, 7), 7);
        mbedtls_ssl_init(here.cast());
        assert_eq!(dtls_new_context(here.cast()), here.cast());
        assert_eq!(slowhand_decoy_calls(), 4);
    }
    handshakes();
    // SAFETY: see above.
    assert_eq!(unsafe { slowhand_decoy_calls() }, 4);
}

/// Python needs this library, so most systems have it.
#[test]
fn the_openssl_of_the_system_stays_another_one() {
    let file = CString::new("libcrypto.so.3").unwrap();
    // SAFETY: loading this library has no effect but that.
    let library = unsafe { dlopen(file.as_ptr(), NOW_AND_GLOBAL) };
    if library.is_null() {
        println!("this system has no libcrypto.so.3");
        return;
    }
    handshakes();
    let symbol = CString::new("OpenSSL_version").unwrap();
    // SAFETY: `const char *OpenSSL_version(int)` of <openssl/crypto.h>; 0 is OPENSSL_VERSION.
    let version = unsafe {
        let version: extern "C" fn(c_int) -> *const c_char = std::mem::transmute(dlsym(library, symbol.as_ptr()));
        CStr::from_ptr(version(0)).to_string_lossy().into_owned()
    };
    assert!(version.starts_with("OpenSSL 3."), "{version}");
    handshakes();
}
