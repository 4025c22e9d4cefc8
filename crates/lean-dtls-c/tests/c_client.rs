//! The example in C, compiled by a C compiler and linked with the library, against the server in Rust.

use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant as Clock};

use lean_dtls::{Config, Instant, Psk, RustCrypto, Server, Timeouts};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// The library as Cargo has built it for this test.
fn library() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("liblean_dtls_c") && name.ends_with(".a")
    };
    let found = [&folder, folder.parent().unwrap()].into_iter().flat_map(|folder| folder.read_dir().unwrap());
    let found = found.map(|entry| entry.unwrap().path()).filter(is_library);
    found.max_by_key(|path| path.metadata().unwrap().modified().unwrap()).expect("Cargo builds the static library too")
}

/// Compiles the example with all warnings, as C11.
fn compile() -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lean-dtls-client");
    let mut compiler = Command::new("gcc");
    compiler.args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"]).arg(format!("{CRATE}/include"));
    compiler.arg(format!("{CRATE}/examples/client.c")).arg(library()).args(["-lpthread", "-ldl", "-lm", "-o"]);
    let output = compiler.arg(&program).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// An echo server for one client, until this client closes the connection.
fn serve(socket: &UdpSocket) {
    let keys = [Psk { identity: b"sensor-17", key: b"0123456789abcdef" }];
    let timeouts = Timeouts { initial_ms: 1000, ..Timeouts::DEFAULT };
    // Not random: the test needs no secret.
    let crypto = RustCrypto::new(|octets: &mut [u8]| octets.fill(7));
    let mut server = Server::<_, _, [u8; 2], 1, 512>::new(Config::new(keys, 256, timeouts).unwrap(), crypto);
    let (started, mut datagram) = (Clock::now(), [0; 256]);
    while started.elapsed() < Duration::from_secs(20) {
        let Ok((length, peer)) = socket.recv_from(&mut datagram) else { break };
        let address = peer.port().to_be_bytes();
        let mut message = Vec::new();
        server.receive(address, &mut datagram[..length], |data| message = data.to_vec());
        if !message.is_empty() {
            let length = server.send(address, &message, &mut datagram).unwrap();
            socket.send_to(&datagram[..length], peer).unwrap();
        }
        let now = Instant::from_millis(started.elapsed().as_millis() as u64);
        while let Some((_, length)) = server.poll_transmit(now, &mut datagram) {
            socket.send_to(&datagram[..length], peer).unwrap();
        }
        if server.status(address) == Some(lean_dtls::Status::Closed) {
            break;
        }
    }
}

#[test]
fn the_example_in_c_connects_sends_gets_its_answer_and_closes() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let port = socket.local_addr().unwrap().port().to_string();
    let program = compile();
    let server = thread::spawn(move || serve(&socket));
    let output = Command::new(program).args([&port, "22.5 C"]).output().unwrap();
    server.join().unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"22.5 C\n"[..]));
}

/// The constant of the header is that of the library, which the compiler has compared with what a client needs.
#[test]
fn the_header_has_the_size_of_the_storage() {
    let header = include_str!("../include/lean_dtls.h");
    assert!(header.contains(&format!("#define LEAN_DTLS_CLIENT_SIZE {}\n", lean_dtls_c::CLIENT_SIZE)));
}
