//! A client over DTLS for asynchronous firmware: over any UDP socket of `embedded-nal-async`, with any executor. `no_std`, no
//! allocation.
//!
//! `nal_client.rs` runs it on this computer, and the image `nal` of `firmware/cortex-m3` holds the same code. A stack that has
//! [`UdpStack`](embedded_nal_async::UdpStack) makes the socket by `stack.connect(server).await?.1`; the sockets of another one,
//! such as embassy-net, need [`ConnectedUdp`] in a few lines: `send_to` the server, and `recv_from` until it is the server.

use embassy_futures::select::{Either, select};
use embedded_hal_async::delay::DelayNs;
use embedded_nal_async::ConnectedUdp;
use lean_dtls::{Client, Config, Credentials, Instant, RustCrypto, Status};

/// Octets of the longest datagram. (Assumed: what fits into three frames of 6LoWPAN.)
pub const MTU: usize = 256;

/// After how many milliseconds without an answer the message is sent again, which DTLS does not do. (RFC 7252, section 4.8:
/// ACK_TIMEOUT of CoAP.)
const PATIENCE_MS: u64 = 2000;

/// The needs of the client beside a socket: waits, a clock that goes on while it waits, and random numbers.
pub trait Device: DelayNs {
    /// The time.
    fn now(&self) -> Instant;

    /// Fills `octets` with random numbers that nobody can predict.
    fn random(octets: &mut [u8]);
}

/// Connects to the server of `socket`, sends `message` until an answer comes, gives that to `deliver`, and closes. Returns how
/// the connection ended.
///
/// Whoever drops this future, or lets it run into a timeout of their own, drops the connection: its keys are wiped, and the
/// server does not hear of it. The server then keeps the slot until the client comes again, or until another needs the slot.
///
/// # Errors
/// The socket's, if it cannot receive. What it cannot send counts as lost: the timer of the handshake sends it again.
pub async fn client<const BUFFER: usize, S: ConnectedUdp, D: Device>(
    socket: &mut S,
    device: &mut D,
    config: Config<impl Credentials>,
    message: &[u8],
    deliver: &mut dyn FnMut(&[u8]),
) -> Result<Status, S::Error> {
    let mut client = Client::<_, _, BUFFER>::new(config, RustCrypto::new(D::random));
    let mut datagram = [0; MTU];
    let mut ask_at = None; // the time of the next attempt
    client.connect();
    loop {
        while let length @ 1.. = client.poll_transmit(device.now(), &mut datagram) {
            let _ = socket.send(&datagram[..length]).await;
        }
        match client.status() {
            Status::Handshaking => {}
            Status::Established => {
                let now = device.now();
                if ask_at.is_none_or(|at| at <= now) {
                    ask_at = Some(Instant::from_millis(now.as_millis() + PATIENCE_MS));
                    if let Ok(length) = client.send(message, &mut datagram) {
                        let _ = socket.send(&datagram[..length]).await;
                    }
                }
            }
            ended => return Ok(ended),
        }
        let deadline = [client.deadline(), ask_at].into_iter().flatten().min();
        let mut is_answered = false;
        match receive_until(socket, device, deadline, &mut datagram).await? {
            Some(received) => client.receive(received, |data| {
                deliver(data);
                is_answered = true;
            }),
            None => client.handle_timeout(device.now()), // does nothing before its own deadline
        }
        if is_answered {
            client.close();
        }
    }
}

/// The next datagram. `None`: the deadline has come first.
///
/// No datagram is lost to the timer. `select` asks the socket first, so one that is there wins even if the deadline has come.
/// If the timer wins, the future of the socket is dropped; a socket whose future takes a datagram only when it returns it, as
/// those of embassy-net do, still has what comes later. With any other socket that datagram is lost as on the air, and the
/// timer of the handshake sees to it. It has to be dropped: the client now sends, and needs the socket.
async fn receive_until<'d, S: ConnectedUdp>(
    socket: &mut S,
    device: &mut impl Device,
    deadline: Option<Instant>,
    datagram: &'d mut [u8],
) -> Result<Option<&'d mut [u8]>, S::Error> {
    let left_ms = deadline.map(|at| at.as_millis().saturating_sub(device.now().as_millis()));
    let length = match left_ms {
        None => socket.receive_into(datagram).await?,
        Some(left_ms) => {
            let wait = device.delay_ms(u32::try_from(left_ms).unwrap_or(u32::MAX));
            match select(socket.receive_into(datagram), wait).await {
                Either::First(length) => length?,
                Either::Second(()) => return Ok(None),
            }
        }
    };
    // The length of a datagram that was cut is that of all of it. Its end has the tag, so it is worth nothing.
    Ok(Some(datagram.get_mut(..length).unwrap_or_default()))
}
