//! Our ends with the peer that was written from the RFC alone, and with packets that no peer should send.

use super::pair::{endpoint, initial};
use super::peer::{ACK, CLOSE, CLOSE_REQ, DATA, DATA_ACK, Got, Peer, REQUEST, RESET, RESPONSE, SYNC, SYNC_ACK};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::Ecn;
use slowhand_net::transport::dccp::{Connection, ConnectionError, DccpConfig, PacketError, ResetCode, State};

/// The service code of our ends.
const SERVICE: Option<[u8; 4]> = Some(*b"?DTL");

/// Send Ack Vector: Change L, and Change R.
const WANTS_VECTORS: [u8; 8] = [32, 4, 6, 1, 34, 4, 6, 1];

/// One end of ours with the peer at the other end; nothing takes time but what a test says.
struct Meeting {
    end: Connection<Vec<u8>>,
    peer: Peer,
    now: Instant,
    which: usize,
}

impl Meeting {
    /// Our end is the client (0) or the server (1).
    fn new(which: usize) -> Self {
        let [own, other] = [endpoint(which), endpoint(1 - which)];
        let config = DccpConfig::default();
        let end = match which {
            0 => Connection::connect(&config, own, other, initial(0)),
            _ => Connection::listen(&config, own, initial(1)),
        };
        let peer = Peer::new([other.address, own.address], [other.port, own.port], (1 << 48) - 2);
        Self { end: end.unwrap(), peer, now: Instant::ZERO, which }
    }

    fn sent(&mut self) -> Vec<Got> {
        let mut out = vec![0; 2_000];
        let mut sent = Vec::new();
        while let Some(transmit) = self.end.poll_transmit(self.now, &mut out) {
            sent.push(self.peer.read(&out[..transmit.len]));
        }
        sent
    }

    fn give(&mut self, octets: &[u8]) -> Option<Vec<u8>> {
        let source = endpoint(1 - self.which).address;
        self.end.handle_packet(self.now, source, Ecn::NotCapable, octets).unwrap().map(<[u8]>::to_vec)
    }

    /// The peer sends its next packet.
    fn tell(
        &mut self,
        kind: u8,
        ack: Option<u64>,
        word: Option<[u8; 4]>,
        options: &[u8],
        data: &[u8],
    ) -> Option<Vec<u8>> {
        let packet = self.peer.packet(kind, ack, word, options, data);
        self.give(&packet)
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        self.end.handle_timeout(self.now);
    }

    /// Our server, with a client that has opened the connection.
    fn open_server() -> Self {
        let mut meeting = Self::new(1);
        meeting.tell(REQUEST, None, SERVICE, &WANTS_VECTORS, b"");
        let response = meeting.sent().remove(0);
        // The client confirms the server's own wish.
        meeting.tell(ACK, Some(response.seq), None, &[33, 4, 6, 1], b"");
        assert_eq!(meeting.end.state(), State::Open);
        meeting
    }
}

#[test]
fn our_client_speaks_with_it() {
    let mut meeting = Meeting::new(0);
    let request = meeting.sent().remove(0);
    assert_eq!((request.kind, request.word, request.data.len()), (REQUEST, SERVICE, 0));
    assert_eq!(request.seq, initial(0).get());
    assert_eq!(request.options, [(34, vec![6, 1]), (32, vec![6, 1])]);
    // The Request was lost: it is sent again after a second, with the next number.
    meeting.wait(Duration::from_secs(1));
    let request = meeting.sent().remove(0);
    assert_eq!((request.kind, request.seq), (REQUEST, initial(0).get() + 1));
    let confirms = [33, 4, 6, 1, 35, 4, 6, 1, 34, 4, 6, 1];
    meeting.tell(RESPONSE, Some(request.seq), SERVICE, &confirms, b"");
    let response = meeting.peer.next.wrapping_sub(1) % (1 << 48);
    assert_eq!(meeting.end.state(), State::PartOpen);
    assert!(meeting.end.send(b"hello".to_vec()).is_ok());
    let sent = meeting.sent();
    assert_eq!(sent.iter().map(|got| got.kind).collect::<Vec<_>>(), [ACK, DATA_ACK]);
    assert_eq!(sent[0].ack, Some(response));
    assert_eq!(sent[0].options, [(33, vec![6, 1, 1, 0]), (38, vec![0])], "its own confirmation, and its first vector");
    assert_eq!(sent[1].data, b"hello");
    // In PARTOPEN it goes on with acknowledgements.
    meeting.wait(Duration::from_millis(200));
    assert_eq!(meeting.sent().iter().map(|got| got.kind).collect::<Vec<_>>(), [ACK]);
    let (ack, vector) = meeting.peer.vector();
    assert_eq!(meeting.tell(DATA_ACK, Some(ack), None, &vector, b"and hello"), Some(b"and hello".to_vec()));
    assert_eq!((meeting.end.state(), meeting.end.window()), (State::Open, (4, 0)));
    assert!(meeting.sent().is_empty(), "the acknowledgement waits");
    meeting.wait(Duration::from_millis(200));
    assert_eq!(meeting.sent()[0].ack, Some((1 << 48) - 1));
    // The server asks for a close, and resets.
    meeting.tell(CLOSE_REQ, Some(ack), None, &[], b"");
    let close = meeting.sent().remove(0);
    assert_eq!(close.kind, CLOSE);
    meeting.tell(RESET, Some(close.seq), Some([1, 0, 0, 0]), &[], b"");
    assert_eq!((meeting.end.state(), meeting.end.error()), (State::TimeWait, None));
}

#[test]
fn our_server_speaks_with_it() {
    let mut meeting = Meeting::new(1);
    let request = meeting.peer.next;
    meeting.tell(REQUEST, None, SERVICE, &WANTS_VECTORS, b"");
    let response = meeting.sent().remove(0);
    assert_eq!((response.kind, response.ack, response.word), (RESPONSE, Some(request), SERVICE));
    assert_eq!(response.options, [(35, vec![6, 1, 1, 0]), (33, vec![6, 1, 1, 0]), (34, vec![6, 1])]);
    // A Request that comes again is answered again.
    meeting.tell(REQUEST, None, SERVICE, &WANTS_VECTORS, b"");
    let response = meeting.sent().remove(0);
    assert_eq!((response.kind, response.ack), (RESPONSE, Some(request + 1)));
    assert_eq!(meeting.tell(DATA, None, None, &[], b"too early"), None, "data without an acknowledgement");
    assert_eq!(meeting.sent()[0].kind, SYNC);
    let got = meeting.tell(DATA_ACK, Some(response.seq), None, &[33, 4, 6, 1], b"one");
    assert_eq!((got, meeting.end.state()), (Some(b"one".to_vec()), State::Open));
    assert_eq!(meeting.tell(DATA, None, None, &[], b"two"), Some(b"two".to_vec()));
    let ack = meeting.sent().remove(0);
    assert_eq!((ack.kind, ack.ack), (ACK, Some(2)));
    // Received: 2, 1 and the first Requests; what came too early was not taken.
    assert_eq!(ack.options, [(38, vec![0x01, 0xc0, 0x01])]);
    // Data of its own, of which one packet is lost.
    (0..4u8).for_each(|number| assert!(meeting.end.send(vec![number]).is_ok()));
    let data = meeting.sent();
    assert_eq!(data.len(), 4);
    meeting.peer.arrived.retain(|&seq| seq != data[0].seq);
    let (ack, vector) = meeting.peer.vector();
    meeting.tell(ACK, Some(ack), None, &vector, b"");
    assert_eq!((meeting.end.window(), meeting.end.statistics().congestion_events), ((2, 0), 1));
    // The client closes.
    meeting.tell(CLOSE, Some(ack), None, &[], b"");
    let reset = meeting.sent().remove(0);
    assert_eq!((reset.kind, reset.word), (RESET, Some([1, 0, 0, 0])));
    assert_eq!((meeting.end.state(), meeting.end.error()), (State::Closed, None));
    // Its Close comes again, because it has not got the Reset.
    meeting.tell(CLOSE, Some(ack), None, &[], b"");
    assert_eq!(meeting.sent()[0].word, Some([3, 0, 0, 0]), "no connection");
}

#[test]
fn numbers_out_of_the_window_are_asked_for() {
    let mut meeting = Meeting::open_server();
    let ack = meeting.peer.arrived[0];
    let far = (meeting.peer.next + 1_000) % (1 << 48);
    let packet = meeting.peer.packet_with(far, DATA_ACK, Some(ack), None, &[], b"far ahead");
    assert_eq!(meeting.give(&packet), None);
    let sync = meeting.sent().remove(0);
    assert_eq!((sync.kind, sync.ack), (SYNC, Some(far)));
    assert_eq!(meeting.give(&packet), None);
    assert!(meeting.sent().is_empty(), "no more than eight Syncs in a second");
    // The peer confirms its numbers, and goes on there.
    meeting.peer.next = far + 1;
    meeting.tell(SYNC_ACK, Some(sync.seq), None, &[], b"");
    assert_eq!(meeting.tell(DATA, None, None, &[], b"there"), Some(b"there".to_vec()));
    // A Sync is answered, and a wrong Reset is not believed.
    meeting.tell(SYNC, Some(ack), None, &[], b"");
    assert_eq!(meeting.sent().iter().find(|got| got.kind == SYNC_ACK).unwrap().ack, Some(meeting.peer.next - 1));
    meeting.wait(Duration::from_secs(1));
    let packet = meeting.peer.packet_with(77, RESET, Some(sync.seq), Some([2, 0, 0, 0]), &[], b"");
    meeting.give(&packet);
    assert_eq!(meeting.end.state(), State::Open);
    assert_eq!(meeting.sent().iter().find(|got| got.kind == SYNC).unwrap().ack, Some(meeting.peer.next - 1));
    meeting.tell(RESET, Some(sync.seq), Some([2, 0, 0, 0]), &[], b"");
    assert_eq!(meeting.end.error(), Some(ConnectionError::Reset(ResetCode::ABORTED)));
}

/// Section 8.5 step 6: a SyncAck acknowledges, so a Reset with an older number is not believed.
#[test]
fn a_sync_ack_moves_the_greatest_acknowledgement() {
    let mut meeting = Meeting::open_server();
    let old = meeting.peer.arrived[0];
    meeting.peer.next = (meeting.peer.next + 1_000) % (1 << 48);
    meeting.tell(DATA, None, None, &[], b"far ahead");
    let sync = meeting.sent().remove(0);
    meeting.tell(SYNC_ACK, Some(sync.seq), None, &[], b"");
    meeting.tell(RESET, Some(old), Some([2, 0, 0, 0]), &[], b"");
    assert_eq!((meeting.end.state(), meeting.end.error()), (State::Open, None));
    meeting.tell(RESET, Some(sync.seq), Some([2, 0, 0, 0]), &[], b"");
    assert_eq!(meeting.end.error(), Some(ConnectionError::Reset(ResetCode::ABORTED)));
}

/// More packets than a counter of 16 bits holds, of a peer that wants no acknowledgement of them.
#[test]
fn a_peer_may_ask_for_few_acknowledgements() {
    let mut meeting = Meeting::open_server();
    meeting.tell(ACK, Some(meeting.peer.arrived[0]), None, &[32, 5, 5, 0xff, 0xff], b"");
    (0..70_000).for_each(|_| assert!(meeting.tell(DATA, None, None, &[], b"x").is_some()));
    assert_eq!(meeting.end.state(), State::Open);
}

#[test]
fn what_a_server_cannot_take_is_reset() {
    // No Request.
    let mut meeting = Meeting::new(1);
    meeting.tell(DATA_ACK, Some(7), None, &[], b"hello");
    let reset = meeting.sent().remove(0);
    assert_eq!((reset.kind, reset.seq, reset.ack, reset.word), (RESET, 8, Some((1 << 48) - 2), Some([3, 0, 0, 0])));
    assert_eq!((meeting.end.state(), meeting.end.error()), (State::Listen, None));
    // Another service.
    meeting.tell(REQUEST, None, Some(*b"DISC"), &[], b"");
    assert_eq!(meeting.sent()[0].word, Some([8, 0, 0, 0]));
    assert_eq!(meeting.end.error(), Some(ConnectionError::Refused(ResetCode::BAD_SERVICE_CODE)));
    // A mandatory option that nobody knows, and a mandatory option that is missing.
    for (options, word) in [(&[1, 44, 3, 9][..], [6, 44, 9, 0]), (&[1, 1], [5, 1, 0, 0])] {
        let mut meeting = Meeting::open_server();
        meeting.tell(ACK, Some(meeting.peer.arrived[0]), None, options, b"");
        assert_eq!(meeting.sent().last().unwrap().word, Some(word), "{options:?}");
        assert_eq!(meeting.end.error(), Some(ConnectionError::Refused(ResetCode(word[0]))));
    }
    // A feature that nobody knows is not mandatory.
    let mut meeting = Meeting::open_server();
    meeting.tell(ACK, Some(meeting.peer.arrived[0]), None, &[32, 4, 99, 1], b"");
    assert_eq!(meeting.sent()[0].options[0], (35, vec![99]), "confirmed empty, at once");
}

#[test]
fn a_client_believes_only_answers_to_its_request() {
    let mut meeting = Meeting::new(0);
    let request = meeting.sent().remove(0);
    meeting.tell(RESPONSE, Some(request.seq + 5), SERVICE, &[], b"");
    let reset = meeting.sent().remove(0);
    assert_eq!((reset.kind, reset.word), (RESET, Some([4, 0, 0, 0])), "a packet error");
    assert_eq!(meeting.end.state(), State::Request);
    meeting.tell(DATA_ACK, Some(request.seq), None, &[], b"data");
    assert_eq!(meeting.end.state(), State::Request);
    meeting.tell(RESET, Some(request.seq), Some([7, 0, 0, 0]), &[], b"");
    assert_eq!(meeting.end.error(), Some(ConnectionError::Reset(ResetCode::CONNECTION_REFUSED)));
}

#[test]
fn damaged_packets_and_those_of_others_are_ignored() {
    let mut meeting = Meeting::open_server();
    let mut packet = meeting.peer.packet(DATA, None, None, &[], b"hello");
    packet[17] ^= 1;
    let source = endpoint(0).address;
    let given = meeting.end.handle_packet(meeting.now, source, Ecn::NotCapable, &packet);
    assert_eq!(given, Err(PacketError::Checksum));
    let mut other = Peer::new(meeting.peer.addresses, [1, meeting.peer.ports[1]], 5);
    let packet = other.packet(RESET, Some(7), Some([2, 0, 0, 0]), &[], b"");
    assert_eq!(meeting.give(&packet), None);
    assert_eq!((meeting.end.state(), meeting.sent().len()), (State::Open, 0));
}
