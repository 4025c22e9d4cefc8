//! The examples in C, compiled by a C compiler and linked with the library.

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

/// Compiles a program with all warnings, as C11. Each test has files of its own.
fn compile(test: &str, source: &str) -> PathBuf {
    let name = Path::new(source).file_stem().unwrap();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", name.display()));
    let mut compiler = Command::new("gcc");
    compiler.args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"]).arg(format!("{CRATE}/include"));
    compiler.arg(format!("{CRATE}/{source}")).arg(library()).args(["-lpthread", "-ldl", "-lm", "-o"]);
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
        let client = server.receive(address, &mut datagram[..length], |data| message = data.to_vec());
        if !message.is_empty() {
            let length = server.send(client.unwrap(), &message, &mut datagram).unwrap();
            socket.send_to(&datagram[..length], peer).unwrap();
        }
        let now = Instant::from_millis(started.elapsed().as_millis() as u64);
        while let Some((_, length)) = server.poll_transmit(now, &mut datagram) {
            socket.send_to(&datagram[..length], peer).unwrap();
        }
        if client.is_some_and(|client| server.status(client) == Some(lean_dtls::Status::Closed)) {
            break;
        }
    }
}

#[test]
fn the_example_in_c_connects_sends_gets_its_answer_and_closes() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let port = socket.local_addr().unwrap().port().to_string();
    let program = compile("alone", "examples/client.c");
    let server = thread::spawn(move || serve(&socket));
    let output = Command::new(program).args([&port, "22.5 C"]).output().unwrap();
    server.join().unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"22.5 C\n"[..]));
}

/// Two clients, one after the other. The second finds no server that is still busy with the first.
#[test]
fn the_server_in_c_answers_the_client_in_c() {
    let (client, server) = (compile("both", "examples/client.c"), compile("both", "examples/server.c"));
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let mut server = Command::new(server).args([&port, "2"]).spawn().unwrap();
    for message in ["22.5 C", "23.0 C"] {
        let output = Command::new(&client).args([&port, message]).output().unwrap();
        assert_eq!((output.status.code(), output.stdout), (Some(0), format!("{message}\n").into_bytes()));
    }
    assert_eq!(server.wait().unwrap().code(), Some(0));
}

#[test]
fn what_is_wrong_is_refused_and_ends_no_program() {
    let output = Command::new(compile("wrong", "tests/c/misuse.c")).output().unwrap();
    assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stdout)), (Some(0), ""));
}

/// The constants of the header are those of the library, which the compiler has compared with what is needed.
#[test]
fn the_header_has_the_numbers_of_the_library() {
    let header = include_str!("../include/lean_dtls.h");
    for (name, number) in [
        ("LEAN_DTLS_CLIENT_SIZE", lean_dtls_c::CLIENT_SIZE),
        ("LEAN_DTLS_SERVER_SIZE", lean_dtls_c::SERVER_SIZE),
        ("LEAN_DTLS_SLOTS", lean_dtls_c::SLOTS),
    ] {
        assert!(header.contains(&format!("#define {name} {number}\n")), "{name}");
    }
    for (place, (error, name)) in lean_dtls_c::Error::NAMES.iter().enumerate() {
        assert_eq!(*error as usize, place);
        assert!(header.contains(&format!("{} = {place}", name.to_str().unwrap())), "{name:?}");
    }
}
