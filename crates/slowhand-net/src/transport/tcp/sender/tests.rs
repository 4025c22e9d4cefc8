use super::*;

const MSS: u32 = 65_535;

/// More than half of the sequence space.
const FAR: u64 = (1 << 31) + (1 << 21);

struct Transfer {
    sender: Sender,
    timers: Timers,
    statistics: Statistics,
    now: Instant,
    sent: u64,
}

impl Transfer {
    fn new() -> Self {
        let config = TcpConfig { mss: MSS as u16, send_buffer: 1 << 20, ..TcpConfig::linux() };
        let mut sender = Sender::new(&config, SeqNumber(1));
        sender.open(MSS, false, 1 << 20, SeqNumber(0));
        Self { sender, timers: Timers::default(), statistics: Statistics::default(), now: Instant::ZERO, sent: 0 }
    }

    /// Sends what the windows allow.
    fn send(&mut self, octets: &[u8]) {
        self.sender.buffer_mut().write(octets);
        while let Some(sent) = self.sender.next(self.now, MSS, &mut self.timers, &mut self.statistics) {
            self.sent += u64::from(sent.len);
        }
    }

    fn acknowledge(&mut self, ack: SeqNumber) {
        self.now += Duration::from_millis(10);
        let ack = Ack {
            seq: SeqNumber(0),
            ack,
            window: 1 << 20,
            sack: SackBlocks::default(),
            occupies_sequence: false,
            reports_duplicate: false,
            timestamp_rtt: None,
            congestion: false,
        };
        self.sender.on_ack(self.now, &ack, &mut self.timers, &mut self.statistics);
    }
}

/// What a connection remembers of the past does not count as the future when half of the sequence space has passed.
#[test]
fn two_gigabytes_without_a_loss_leave_the_window_growing_and_fast_retransmit_working() {
    let octets = vec![0; 1 << 20];
    let mut transfer = Transfer::new();
    while transfer.sent < FAR {
        transfer.send(&octets);
        transfer.acknowledge(transfer.sender.next_new());
    }
    // An idle connection begins with the initial window again, 10 segments (RFC 5681 section 4.1).
    transfer.now += Duration::from_secs(600);
    transfer.send(&octets);
    let window = transfer.sender.congestion().window();
    assert_eq!(window, 10 * MSS);
    transfer.acknowledge(transfer.sender.next_new());
    assert!(transfer.sender.congestion().window() > window);

    transfer.send(&octets);
    for _ in 0..DUPLICATES {
        transfer.acknowledge(transfer.sender.una());
    }
    assert_eq!(transfer.statistics.fast_retransmits, 1);
}

/// RFC 5681 section 3.2.
const DUPLICATES: u32 = 3;
