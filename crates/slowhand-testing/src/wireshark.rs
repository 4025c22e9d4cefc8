//! tshark and the other command line tools of Wireshark.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// A pcap file in memory.
#[derive(Clone, Debug)]
pub struct Pcap(Vec<u8>);

/// `LINKTYPE_IEEE802_15_4_WITHFCS`: IEEE 802.15.4 frames with their FCS.
const IEEE802_15_4_WITHFCS: u32 = 195;

/// `LINKTYPE_RAW`: packets that begin with the header of IPv4 or IPv6.
const RAW: u32 = 101;

impl Pcap {
    /// An empty file for IEEE 802.15.4 frames with their FCS.
    pub fn of_frames() -> Self {
        Self::of_link_type(256, IEEE802_15_4_WITHFCS)
    }

    /// An empty file for IPv6 packets.
    pub fn of_packets() -> Self {
        Self::of_link_type(65_535, RAW)
    }

    fn of_link_type(longest: u32, link_type: u32) -> Self {
        let mut file = Self(Vec::new());
        // Magic number of files with microseconds, version 2.4, time zone, accuracy, longest packet, link type.
        file.words([0xa1b2_c3d4, 0x0004_0002, 0, 0, longest, link_type]);
        file
    }

    /// Adds an IPv6 packet.
    pub fn packet(&mut self, at_us: u64, octets: &[u8]) {
        self.record(at_us, &[octets]);
    }

    /// Adds a frame.
    pub fn frame(&mut self, at_us: u64, octets: &[u8], fcs: [u8; 2]) {
        self.record(at_us, &[octets, &fcs]);
    }

    fn record(&mut self, at_us: u64, pieces: &[&[u8]]) {
        let length = pieces.iter().map(|piece| piece.len()).sum::<usize>() as u32;
        self.words([(at_us / 1_000_000) as u32, (at_us % 1_000_000) as u32, length, length]);
        pieces.iter().for_each(|piece| self.0.extend(*piece));
    }

    fn words<const N: usize>(&mut self, words: [u32; N]) {
        self.0.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }

    /// A file of IP packets with these payloads, between port 40000 of a client and port 5684 of a server: for each
    /// payload, true if the client sent it, and its octets. `text2pcap` writes the headers.
    pub fn of_payloads<'a>(transport: Transport, payloads: impl IntoIterator<Item = (bool, &'a [u8])>) -> Self {
        let mut dump = String::new();
        for (by_client, octets) in payloads {
            write!(dump, "{}\n000000", if by_client { "O" } else { "I" }).expect("a string grows");
            octets.iter().for_each(|octet| write!(dump, " {octet:02x}").expect("a string grows"));
            dump.push('\n');
        }
        let mut command = Command::new("text2pcap");
        let option = match transport {
            Transport::Udp => "-u",
            Transport::Tcp => "-T",
        };
        command.args(["-q", "-D", "-F", "pcap", option, "5684,40000", "-", "-"]);
        Self(output(command, dump.as_bytes()))
    }
}

/// The carrier of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// UDP.
    Udp,
    /// TCP.
    Tcp,
}

/// The settings of tshark: it checks every checksum, knows the prefixes of the mesh (context 0) and of the Internet hosts
/// (context 1), which are not on the air, and reassembles segments that are out of order.
#[derive(Clone, Debug)]
pub struct Tshark(Vec<String>);

impl Default for Tshark {
    fn default() -> Self {
        Self(Vec::new())
            .option("wpan.fcs_format:ITU-T CRC-16")
            .option("udp.check_checksum:TRUE")
            .option("tcp.check_checksum:TRUE")
            .option("dccp.check_checksum:TRUE")
            .option("tcp.reassemble_out_of_order:TRUE")
            .context(0, "2001:db8::", 64)
            .context(1, "2001:db8:1::", 64)
    }
}

impl Tshark {
    /// Dissects with these arguments and no others.
    pub fn of(arguments: Vec<String>) -> Self {
        Self(arguments)
    }

    /// Sets a preference of Wireshark's, `name:value`.
    #[must_use]
    pub fn option(self, preference: &str) -> Self {
        self.with(["-o", preference])
    }

    /// Sets a context of 6LoWPAN header compression (RFC 6282).
    #[must_use]
    pub fn context(self, identifier: u8, prefix: &str, length: u8) -> Self {
        self.option(&format!("6lowpan.context{identifier}:{prefix}/{length}"))
    }

    /// Dissects by a rule like `udp.port==5684,dtls`.
    #[must_use]
    pub fn decode_as(self, rule: &str) -> Self {
        self.with(["-d", rule])
    }

    /// Lists only the frames that match a display filter.
    #[must_use]
    pub fn filter(self, filter: &str) -> Self {
        self.with(["-Y", filter])
    }

    fn with(mut self, arguments: [&str; 2]) -> Self {
        self.0.extend(arguments.map(str::to_owned));
        self
    }

    /// The values of these fields, a row for each frame of a capture. A field that occurs several times has its values
    /// between commas.
    ///
    /// # Panics
    ///
    /// If tshark is not installed or fails.
    pub fn rows(&self, capture: &Pcap, fields: &[&str]) -> Vec<Vec<String>> {
        self.dissect("-", &capture.0, fields)
    }

    /// The rows of a file.
    ///
    /// # Panics
    ///
    /// If tshark is not installed or fails.
    pub fn rows_of_file(&self, capture: &Path, fields: &[&str]) -> Vec<Vec<String>> {
        self.dissect(capture.to_str().expect("a path in UTF-8"), &[], fields)
    }

    fn dissect(&self, file: &str, input: &[u8], fields: &[&str]) -> Vec<Vec<String>> {
        let mut command = Command::new("tshark");
        command.args(["-r", file, "-T", "fields", "-E", "occurrence=a"]).args(&self.0);
        command.args(fields.iter().flat_map(|field| ["-e", field]));
        let text = String::from_utf8(output(command, input)).expect("fields in UTF-8");
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
    }
}

/// The output of one of Wireshark's tools.
///
/// # Panics
///
/// If it is not installed or fails.
pub fn run(tool: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(tool);
    command.args(arguments);
    String::from_utf8(output(command, &[])).expect("text in UTF-8")
}

fn output(mut command: Command, input: &[u8]) -> Vec<u8> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn();
    let mut child =
        child.unwrap_or_else(|error| panic!("{command:?}: {error}; install tshark (Debian: apt install tshark)"));
    let mut stdin = child.stdin.take().expect("it is piped");
    // While another thread writes, this one reads: neither end waits for the other.
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input).expect("the tool reads its input"));
        child.wait_with_output().expect("the tool ends")
    });
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}
