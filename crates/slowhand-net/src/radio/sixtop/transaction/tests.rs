use super::super::message::CellRequest;
use super::*;
use crate::radio::sixtop::CellOptions;
use proptest::prelude::*;

const CELL: CellId = CellId { slot: 7, channel_offset: 2 };

fn add(cells: &[CellId]) -> Request {
    Request::Add(CellRequest { metadata: 0, options: CellOptions::TRANSMIT, count: 1, cells: cells.to_vec() })
}

fn delete() -> Request {
    Request::Delete(CellRequest { metadata: 0, options: CellOptions::TRANSMIT, count: 1, cells: vec![CELL] })
}

fn success() -> Reply {
    Reply::with_cells(ReturnCode::Success, &[CELL])
}

fn opened(peer: &mut Peer, request: Request) -> Message {
    peer.open(0, request).unwrap().0
}

#[test]
fn two_steps() {
    let (mut a, mut b) = (Peer::default(), Peer::default());
    for sequence in [0, 1, 2] {
        let request = add(&[CELL]);
        let message = opened(&mut a, request.clone());
        assert_eq!(message.sequence, sequence);
        assert_eq!(b.admit(sequence, &request), Ok(()));
        b.answer(0, request.clone(), success(), vec![CELL]);
        let agreed = Some(Agreement { request: request.clone(), cells: vec![CELL] });
        assert_eq!(a.handle_response(sequence, success()), Some(Progress::Over(request, success())));
        assert_eq!(b.response_delivered(sequence), agreed);
    }
}

#[test]
fn three_steps() {
    let (mut a, mut b) = (Peer::default(), Peer::default());
    let request = add(&[]);
    opened(&mut a, request.clone());
    assert_eq!(b.admit(0, &request), Ok(()));
    b.answer(0, request.clone(), success(), vec![CELL]);
    assert_eq!(b.response_delivered(0), None, "the confirmation is to come");
    assert_eq!(b.locked().collect::<Vec<_>>(), [CELL]);
    assert_eq!(a.handle_response(0, success()), Some(Progress::Proposal(request.clone(), vec![CELL])));
    let confirmation = a.confirm(0, vec![CELL]).unwrap();
    let Content::Confirmation(reply) = confirmation.content else { panic!() };
    let agreed = Some(Agreement { request, cells: vec![CELL] });
    assert_eq!(b.handle_confirmation(0, &reply), agreed);
    assert_eq!(a.confirmation_delivered(0), agreed);
    assert_eq!(opened(&mut a, add(&[CELL])).sequence, 1);
}

#[test]
fn one_transaction_at_a_time() {
    let mut a = Peer::default();
    opened(&mut a, add(&[CELL]));
    assert_eq!(a.open(0, add(&[CELL])), Err(Busy));
}

#[test]
fn a_second_request_during_an_open_answer_resets() {
    let mut b = Peer::default();
    b.admit(0, &add(&[CELL])).unwrap();
    b.answer(0, add(&[CELL]), success(), vec![CELL]);
    assert_eq!(b.admit(0, &add(&[CELL])), Err(ReturnCode::Reset));
    assert_eq!(b.response_delivered(0), None, "nothing was agreed");
}

#[test]
fn the_next_number_proves_that_the_response_arrived() {
    let mut b = Peer::default();
    b.admit(0, &add(&[CELL])).unwrap();
    b.answer(0, add(&[CELL]), success(), vec![CELL]);
    assert!(b.infer_delivery(0).is_none());
    assert_eq!(b.infer_delivery(1), Some(Agreement { request: add(&[CELL]), cells: vec![CELL] }));
    assert_eq!(b.admit(1, &delete()), Ok(()));
    // A late acknowledgement of the first response has no effect on the second.
    b.answer(0, delete(), success(), vec![CELL]);
    assert_eq!(b.response_delivered(0), None);
    assert!(b.response_delivered(1).is_some());
}

#[test]
fn the_next_request_detects_an_inconsistency_and_clear_resolves_it() {
    let (mut a, mut b) = (Peer::default(), Peer::default());
    opened(&mut a, add(&[CELL]));
    b.admit(0, &add(&[CELL])).unwrap();
    b.answer(0, add(&[CELL]), success(), vec![CELL]);
    // The response arrives, but all its acknowledgements are lost.
    a.handle_response(0, success()).unwrap();
    assert_eq!(b.response_lost(0), None);
    let next = opened(&mut a, add(&[CELL]));
    assert_eq!(b.admit(next.sequence, &add(&[CELL])), Err(ReturnCode::Sequence));
    let refused = Reply { code: ReturnCode::Sequence, body: Vec::new() };
    assert!(matches!(a.handle_response(next.sequence, refused), Some(Progress::Over(..))));
    let clear = Request::Clear { metadata: 0 };
    let message = opened(&mut a, clear.clone());
    assert_eq!((message.sequence, b.admit(0, &clear)), (0, Ok(())));
}

#[test]
fn a_response_to_delete_counts_without_its_acknowledgement() {
    let mut b = Peer::default();
    b.admit(0, &delete()).unwrap();
    b.answer(0, delete(), success(), vec![CELL]);
    assert!(b.response_lost(0).is_some());
}

#[test]
fn sequence_numbers_wrap_to_one() {
    assert_eq!((after(0), after(254), after(255)), (1, 255, 1));
}

/// The steps of two peers between which messages get lost.
#[derive(Clone, Copy, Debug)]
enum Step {
    Open(bool),
    RequestArrives,
    RequestLost,
    ResponseArrives,
    ResponseAcknowledged,
    ResponseLost,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        any::<bool>().prop_map(Step::Open),
        Just(Step::RequestArrives),
        Just(Step::RequestLost),
        Just(Step::ResponseArrives),
        Just(Step::ResponseAcknowledged),
        Just(Step::ResponseLost),
    ]
}

proptest! {
    /// For any losses and any order of events: one sequence number has at most one agreement, and a CLEAR makes both
    /// ends consistent when no message is in flight.
    #[test]
    fn any_order_of_events(steps in proptest::collection::vec(step(), 0..60)) {
        let (mut a, mut b) = (Peer::default(), Peer::default());
        let (mut in_flight, mut response): (Option<Message>, Option<Message>) = (None, None);
        let mut agreed = 0;
        for step in steps {
            match step {
                Step::Open(removes) => {
                    let request = if removes { delete() } else { add(&[CELL]) };
                    if let Ok((message, _)) = a.open(0, request) {
                        in_flight = Some(message);
                    }
                }
                Step::RequestArrives => {
                    let Some(Message { sequence, content: Content::Request(request), .. }) = in_flight.take() else {
                        continue;
                    };
                    agreed += u32::from(b.infer_delivery(sequence).is_some());
                    response = Some(match b.admit(sequence, &request) {
                        Ok(()) => b.answer(0, request, success(), vec![CELL]).0,
                        Err(code) => {
                            let content = Content::Response(Reply { code, body: Vec::new() });
                            Message { function: 0, sequence, content }
                        }
                    });
                }
                Step::RequestLost => {
                    if let Some(message) = in_flight.take() {
                        a.abandon(message.sequence);
                    }
                }
                Step::ResponseArrives => {
                    if let Some(Message { sequence, content: Content::Response(reply), .. }) = response.clone() {
                        a.handle_response(sequence, reply);
                    }
                }
                Step::ResponseAcknowledged => {
                    if let Some(message) = response.take() {
                        agreed += u32::from(b.response_delivered(message.sequence).is_some());
                    }
                }
                Step::ResponseLost => {
                    if let Some(message) = response.take() {
                        agreed += u32::from(b.response_lost(message.sequence).is_some());
                    }
                }
            }
            prop_assert!(agreed >= u32::from(b.expected), "only an agreement increments the number");
        }
        a.abandon(a.sequence);
        let clear = Request::Clear { metadata: 0 };
        let message = opened(&mut a, clear.clone());
        if b.admit(message.sequence, &clear) == Err(ReturnCode::Reset) {
            prop_assert_eq!(b.admit(message.sequence, &clear), Ok(()));
        }
        b.answer(0, clear, Reply { code: ReturnCode::Success, body: Vec::new() }, Vec::new());
        let over = a.handle_response(0, Reply { code: ReturnCode::Success, body: Vec::new() });
        prop_assert!(over.is_some());
        prop_assert!(b.response_delivered(0).is_some());
    }
}
