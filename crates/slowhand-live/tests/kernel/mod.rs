//! Helpers that the tests with the kernel share: namespaces of their own, and ICMPv6.

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, ipproto, sockopt};
use slowhand_live::namespace::Namespace;
use std::ffi::OsString;
use std::io::{Write as _, stderr};
use std::net::{Ipv6Addr, SocketAddrV6};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Set inside the namespaces of a test.
const ALONE: &str = "SLOWHAND_TEST_ALONE";

/// The first word of a message that says why a test did not run.
pub const SKIPPED: &str = "SKIPPED";

/// True inside. Outside, runs the test of this name again, inside namespaces of its own, as the root of them; and says why
/// if there are none.
pub fn alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    if let Some(reason) = missing() {
        tell(&format!("{SKIPPED}: {test}: {reason}"));
        return false;
    }
    let output = own("exec \"$@\"").arg("sh").args(this(test)).env(ALONE, "1").output().unwrap();
    let [said, errors] = [output.stdout, output.stderr].map(|octets| String::from_utf8_lossy(&octets).into_owned());
    assert!(output.status.success(), "{said}{errors}");
    if errors.contains(SKIPPED) {
        tell(&errors);
    }
    false
}

/// Says something past the capture of the test's output, which a test that passes does not show.
pub fn tell(message: &str) {
    let _ = writeln!(stderr(), "{message}"); // nobody reads it
}

/// The command that runs one test of this program.
fn this(test: &str) -> [OsString; 5] {
    let me = std::env::current_exe().unwrap().into_os_string();
    [me, test.into(), "--exact".into(), "--nocapture".into(), "--include-ignored".into()]
}

/// The command that runs a test in the namespaces of the calling one, under another command.
pub fn again(test: &str, under: &[&str]) -> Command {
    let mut words = under.iter().map(OsString::from).chain(this(test));
    let mut command = Command::new(words.next().unwrap());
    command.args(words).stdout(Stdio::null());
    command
}

/// As [`again`], but the test makes its own namespaces.
pub fn outside(test: &str, under: &[&str]) -> Command {
    let mut command = again(test, under);
    command.env_remove(ALONE);
    command
}

/// The number of a user without privileges, if this process is real root: it may open `/dev/net/tun`, as it may on most
/// computers.
pub fn ordinary_user() -> Option<u32> {
    const NOBODY: u32 = 65534;
    let all_users = std::fs::read_to_string("/proc/self/uid_map").unwrap();
    let numbers: Vec<_> = all_users.split_whitespace().collect();
    if numbers != ["0", "0", "4294967295"] {
        return None;
    }
    let script = "mount -t tmpfs tmpfs /dev/net && mknod -m 666 /dev/net/tun c 10 200";
    assert!(Command::new("sh").args(["-c", script]).status().unwrap().success());
    Some(NOBODY)
}

/// A shell with namespaces and a `/run` of its own. The next argument is its `$0`.
fn own(script: &str) -> Command {
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--net", "--mount", "sh", "-c", &format!("mount -t tmpfs tmpfs /run && {script}")]);
    command
}

/// The first need of these tests that this computer does not meet.
fn missing() -> Option<String> {
    let succeeds = |command: &mut Command| {
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    if !succeeds(Command::new("ip").arg("-V")) {
        return Some("there is no ip: sudo apt-get install -y iproute2".to_owned());
    }
    if !succeeds(&mut own("true")) {
        return Some("neither root nor may this user make a user namespace (unshare -Urnm)".to_owned());
    }
    let script = "ip link set lo up && exec ip tuntap add dev test mode tun";
    (!succeeds(&mut own(script))).then(|| "no TUN interface can be made: is there a /dev/net/tun?".to_owned())
}

/// Does something inside a namespace.
pub fn inside<T: Send>(namespace: &str, work: impl FnOnce() -> T + Send) -> T {
    Namespace::open(namespace).unwrap().run(work).unwrap()
}

/// The output of `ip`.
pub fn ip(arguments: &[&str]) -> String {
    let output = Command::new("ip").args(arguments).output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// A socket of the kernel that sends and receives ICMPv6 messages.
pub struct Icmp(OwnedFd);

impl Icmp {
    /// In the namespace of the calling thread.
    pub fn bind(address: Ipv6Addr) -> Self {
        let socket = rustix::net::socket(AddressFamily::INET6, SocketType::RAW, Some(ipproto::ICMPV6)).unwrap();
        rustix::net::bind(&socket, &SocketAddrV6::new(address, 0, 0, 0)).unwrap();
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(Duration::from_secs(20))).unwrap();
        Self(socket)
    }

    /// Sends echo requests one after the other; how many were answered, octet by octet (RFC 4443 section 4).
    pub fn echo(&self, to: Ipv6Addr, count: u8) -> u8 {
        let answered = (0..count).filter(|&number| {
            // Type, code, a checksum that the kernel writes, identifier, sequence number, data.
            let mut message = vec![128, 0, 0, 0, 7, 7, 0, number];
            message.extend((0..56).map(|at| at ^ number));
            let to = SocketAddrV6::new(to, 0, 0, 0);
            rustix::net::sendto(&self.0, &message, SendFlags::empty(), &to).unwrap();
            let mut answer = [0; 1500];
            while let Ok((length, _)) = rustix::net::recv(&self.0, &mut answer, RecvFlags::empty()) {
                if answer[0] == 129 && answer[4..length] == message[4..] {
                    return true;
                }
            }
            false
        });
        answered.count() as u8
    }
}

/// An IPv6 packet with a header and so many octets of no protocol (RFC 8200 section 3; next header 59).
pub fn packet(source: Ipv6Addr, destination: Ipv6Addr, length: u16) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend(length.to_be_bytes());
    packet.extend([59, 64]);
    packet.extend(source.octets());
    packet.extend(destination.octets());
    packet.resize(40 + usize::from(length), 0x55);
    packet
}

/// A socket that sends whole packets, whatever their headers say, on the route to one address.
pub struct Raw(OwnedFd, SocketAddrV6);

impl Raw {
    /// In the namespace of the calling thread.
    pub fn new(route: Ipv6Addr) -> Self {
        let socket = rustix::net::socket(AddressFamily::INET6, SocketType::RAW, Some(ipproto::RAW)).unwrap();
        Self(socket, SocketAddrV6::new(route, 0, 0, 0))
    }

    pub fn send(&self, packet: &[u8]) {
        self.try_send(packet).unwrap();
    }

    pub fn try_send(&self, packet: &[u8]) -> rustix::io::Result<()> {
        rustix::net::sendto(&self.0, packet, SendFlags::empty(), &self.1).map(drop)
    }
}

/// A program in a namespace. It ends with this value.
pub struct Program(pub Child);

impl Program {
    /// OpenSSL with the pre-shared key of slowhand.
    pub fn openssl(namespace: &str, arguments: &[&str]) -> Self {
        let key: String = slowhand_sessions::credentials::PSK.iter().map(|octet| format!("{octet:02x}")).collect();
        let mut command = Command::new("openssl");
        command.args(arguments).args(["-psk", &key, "-psk_identity", "Client_identity"]);
        command.args(["-cipher", "PSK-AES128-GCM-SHA256"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        Self(inside(namespace, || command.spawn()).unwrap())
    }

    /// True if its namespace has a socket with this port in a table of `/proc/net`.
    pub fn listens(&self, table: &str, port: u16) -> bool {
        let table = std::fs::read_to_string(format!("/proc/{}/net/{table}", self.0.id())).unwrap_or_default();
        table.contains(&format!(":{port:04X} "))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it may have ended
        let _ = self.0.wait();
    }
}
