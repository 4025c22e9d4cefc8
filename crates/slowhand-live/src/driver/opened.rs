//! Ways in from the outside: sockets that listen, interfaces, the socket for commands.

use crate::admission::Speech;
use crate::capture::Capture;
use crate::control::Control;
use crate::event::Address;
use crate::recording::{FORM, Header, Recorder};
use crate::setup::{LiveError, MOST_PROXIES, Proxy, Setup, Transport, Ways};
use crate::tun::{Side, Tun};
use mio::net::{TcpListener, TcpStream, UdpSocket};
use mio::unix::SourceFd;
use mio::{Interest, Poll, Token, Waker};
use slowhand_lab::live::Hosts;
use slowhand_lab::plan::Plan;
use slowhand_lab::scenario::Scenario;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::sync::Arc;

/// All that is open.
pub(crate) struct Opened {
    pub(super) poll: Poll,
    listeners: Vec<Listener>,
    /// The interface of each side.
    tuns: [Option<Tun>; 2],
    pub(super) control: Option<Control>,
    pub(super) capture: Option<Capture>,
    pub(super) recorder: Option<Recorder>,
    addresses: Vec<Address>,
    /// The listeners whose clients wait for a place.
    full: Vec<usize>,
    /// The sources that may have more: they are read again without a new sign of the system.
    again: Vec<Source>,
    /// That of emulated clients, which have no listener.
    no_speech: Speech,
}

/// Something that is read: a listener, the interface of a side, or the server of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Listener(usize),
    Interface(Side),
    Server(u64),
}

struct Listener {
    socket: ListeningSocket,
    /// The program behind the network. `None`: the emulated server is.
    server: Option<SocketAddr>,
    speech: Speech,
}

enum ListeningSocket {
    Udp(UdpSocket),
    Tcp(TcpListener),
}

impl Opened {
    pub(super) const WAKER: Token = Token(0);
    pub(super) const CONTROL: Token = Token(1);
    const FIRST_TUN: usize = 2;
    pub(super) const FIRST_LISTENER: usize = 4;
    const FIRST_CONTROL: usize = Self::FIRST_LISTENER + MOST_PROXIES;
    pub(super) const FIRST_CONVERSATION: usize = Self::FIRST_CONTROL + Control::TOKENS;

    /// Opens everything that the setup asks for.
    ///
    /// # Errors
    /// See [`LiveError`].
    pub(crate) fn open(scenario: &Scenario, plan: &Plan, setup: &Setup) -> Result<(Self, Arc<Waker>), LiveError> {
        setup.check()?;
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), Self::WAKER)?);
        let mut opened = Self {
            poll,
            listeners: Vec::new(),
            tuns: [None, None],
            control: None,
            capture: None,
            recorder: None,
            addresses: Vec::new(),
            full: Vec::new(),
            again: Vec::new(),
            no_speech: Speech::default(),
        };
        let of_scenario = if scenario.session.protocol.is_stream() { Transport::Tcp } else { Transport::Udp };
        match &setup.ways {
            Ways::Emulated | Ways::Clients { .. } => {}
            Ways::Server { listen } => opened.listen(of_scenario, *listen, None)?,
            Ways::Proxies(proxies) => {
                for &Proxy { transport, listen, server } in proxies {
                    if transport != of_scenario {
                        let example = if transport == Transport::Tcp { "tls1.2" } else { "dtls1.2" };
                        let (found, allowed) = (transport.name(), of_scenario.name());
                        return Err(LiveError::Transport { found, allowed, example });
                    }
                    opened.listen(transport, listen, Some(server))?;
                }
            }
            Ways::Interfaces { device, internet } => {
                for (side, interface) in [(Side::Device, device), (Side::Internet, internet)] {
                    if let Some(interface) = interface {
                        opened.add_tun(Tun::open(side, interface, plan.nodes())?)?;
                    }
                }
            }
        }
        if let Some(path) = &setup.control {
            opened.control = Some(Control::open(path, opened.poll.registry(), Self::CONTROL, Self::FIRST_CONTROL)?);
        }
        if let Some(path) = &setup.capture {
            opened.capture =
                Some(Capture::start(scenario, path, setup.ways.programs().len() < 2 || scenario.holds_keys())?);
        }
        if let Some(path) = &setup.record {
            let header = Header {
                recording: FORM,
                slowhand: env!("CARGO_PKG_VERSION").to_owned(),
                sources: scenario.sources().clone(),
                seed: setup.seed,
                outside: opened.outside(),
                programs: setup.ways.programs(),
            };
            let refused = |error| LiveError::Recording { path: path.clone(), error };
            opened.recorder = Some(Recorder::start(path, &header).map_err(refused)?);
        }
        Ok((opened, waker))
    }

    /// The hosts that are outside: those of the sides with an interface.
    pub(super) fn outside(&self) -> Hosts {
        Hosts { nodes: self.tun(Side::Device).is_some(), internet: self.tun(Side::Internet).is_some() }
    }

    fn listen(&mut self, way: Transport, address: SocketAddr, server: Option<SocketAddr>) -> Result<(), LiveError> {
        let refused = |error| LiveError::Listen { address, error };
        let token = Token(Self::FIRST_LISTENER + self.listeners.len());
        let (socket, listen) = match way {
            Transport::Udp => {
                let mut socket = UdpSocket::bind(address).map_err(refused)?;
                self.poll.registry().register(&mut socket, token, Interest::READABLE).map_err(refused)?;
                let listen = socket.local_addr().map_err(refused)?;
                (ListeningSocket::Udp(socket), listen)
            }
            Transport::Tcp => {
                let mut socket = TcpListener::bind(address).map_err(refused)?;
                self.poll.registry().register(&mut socket, token, Interest::READABLE).map_err(refused)?;
                let listen = socket.local_addr().map_err(refused)?;
                (ListeningSocket::Tcp(socket), listen)
            }
        };
        self.listeners.push(Listener { socket, server, speech: Speech::of(server) });
        self.addresses.push(Address { way, listen, server });
        Ok(())
    }

    fn add_tun(&mut self, tun: Tun) -> Result<(), LiveError> {
        let side = tun.side();
        let token = Token(Self::FIRST_TUN + side as usize);
        self.poll.registry().register(&mut SourceFd(&tun.as_raw_fd()), token, Interest::READABLE)?;
        self.tuns[side as usize] = Some(tun);
        Ok(())
    }

    pub(crate) fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    pub(super) fn is_tun(token: usize) -> bool {
        (Self::FIRST_TUN..Self::FIRST_LISTENER).contains(&token)
    }

    pub(super) fn side_of(token: usize) -> Side {
        if token == Self::FIRST_TUN + Side::Device as usize { Side::Device } else { Side::Internet }
    }

    pub(super) fn is_listener(token: usize) -> bool {
        (Self::FIRST_LISTENER..Self::FIRST_CONTROL).contains(&token)
    }

    pub(super) fn tun(&self, side: Side) -> Option<&Tun> {
        self.tuns[side as usize].as_ref()
    }

    pub(super) fn has_no_tun(&self) -> bool {
        self.tuns.iter().all(Option::is_none)
    }

    /// Takes an interface out.
    pub(super) fn take_tun(&mut self, side: Side) -> Option<Tun> {
        let tun = self.tuns[side as usize].take()?;
        let _ = self.poll.registry().deregister(&mut SourceFd(&tun.as_raw_fd())); // it may have gone
        Some(tun)
    }

    /// The socket of a listener for datagrams.
    pub(super) fn udp(&self, listener: usize) -> Option<&UdpSocket> {
        match &self.listeners.get(listener)?.socket {
            ListeningSocket::Udp(socket) => Some(socket),
            ListeningSocket::Tcp(_) => None,
        }
    }

    /// The next connection to a listener.
    pub(super) fn accept(&mut self, listener: usize) -> Option<(TcpStream, SocketAddr)> {
        let ListeningSocket::Tcp(socket) = &self.listeners.get(listener)?.socket else { return None };
        match socket.accept() {
            Ok(accepted) => Some(accepted),
            Err(error) => {
                // One that is gone, or no descriptor is left: others may wait.
                if error.kind() != io::ErrorKind::WouldBlock {
                    self.wait_for_place(listener);
                }
                None
            }
        }
    }

    /// The clients of a listener wait for a place. They are looked at again after a while.
    pub(super) fn wait_for_place(&mut self, listener: usize) {
        if !self.full.contains(&listener) {
            self.full.push(listener);
        }
    }

    pub(super) fn take_full(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.full)
    }

    pub(super) fn register(&self, mut stream: TcpStream, token: Token) -> io::Result<TcpStream> {
        self.poll.registry().register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        Ok(stream)
    }

    pub(super) fn server_of(&self, listener: usize) -> Option<SocketAddr> {
        self.listeners.get(listener)?.server
    }

    /// The protocol of the programs of a listener.
    pub(super) fn speech(&mut self, listener: usize) -> &mut Speech {
        match self.listeners.get_mut(listener) {
            Some(listener) => &mut listener.speech,
            None => &mut self.no_speech,
        }
    }

    pub(super) fn accept_control(&mut self) {
        if let Some(control) = &mut self.control {
            control.accept(self.poll.registry());
        }
    }

    /// A source may have more.
    pub(super) fn read_again(&mut self, source: Source) {
        if !self.again.contains(&source) {
            self.again.push(source);
        }
    }

    pub(super) fn take_again(&mut self) -> Vec<Source> {
        std::mem::take(&mut self.again)
    }

    /// True if something may be left to read.
    pub(super) fn has_more(&self) -> bool {
        !self.again.is_empty()
    }
}
