use std::time::Duration;

use super::{Block, BlockSize, without_blocks};
use crate::message::{self, CoapOption, Packet, ResponseType};
use crate::timer::Transmission;

/// The number of unfinished bodies of requests that are kept for a peer, and of bodies of responses. It is assumed.
const KEPT: usize = 4;

/// The bodies that a server keeps, which go in blocks to and from one peer.
#[derive(Clone, Debug)]
pub struct Server {
    size: BlockSize,
    limit: usize,
    lifetime: Duration,
    /// The bodies so far.
    uploads: Vec<Kept<Vec<u8>>>,
    downloads: Vec<Kept<Whole>>,
}

/// The part that is kept until a time, for requests with this key.
#[derive(Clone, Debug)]
struct Kept<T> {
    key: Vec<u8>,
    until: Duration,
    content: T,
}

/// A response.
#[derive(Clone, Debug)]
struct Whole {
    /// It without its body.
    head: Packet,
    body: Vec<u8>,
}

/// The treatment that a request needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// It is whole. Answer it with what [`Server::send`] makes of the response.
    Whole(Packet),
    /// It has, or asks for, one block of many: answer it with this.
    Part(Packet),
}

impl Server {
    /// Sends blocks of `size`, or less if the client wants it. The body of a request has at most `limit` octets.
    pub fn new(size: BlockSize, limit: usize) -> Self {
        // As long as messages of the exchange may be under way (RFC 7252 section 4.8.2). That it is this time is assumed.
        let lifetime = Transmission::DEFAULT.exchange_lifetime();
        Self { size, limit, lifetime, uploads: Vec::new(), downloads: Vec::new() }
    }

    /// Takes a request.
    pub fn receive(&mut self, now: Duration, request: Packet) -> Incoming {
        let (Ok(block1), Ok(block2)) =
            (Block::of(&request, CoapOption::Block1), Block::of(&request, CoapOption::Block2))
        else {
            return refusal(ResponseType::BadRequest);
        };
        let key = key(&request);
        if let Some(block) = block1 {
            return self.receive_block(now, request, key, block);
        }
        let wanted = block2.filter(|block| block.number > 0);
        let kept = self.downloads.iter_mut().find(|kept| kept.key == key && now < kept.until);
        match (wanted, kept) {
            (Some(block), Some(kept)) => {
                kept.until = now.saturating_add(self.lifetime);
                let size = block.size.min(self.size);
                kept.content
                    .part(block.offset(), size)
                    .map_or_else(|| refusal(ResponseType::BadRequest), Incoming::Part)
            }
            _ => Incoming::Whole(request),
        }
    }

    /// Takes a block of a request's body.
    fn receive_block(&mut self, now: Duration, mut request: Packet, key: Vec<u8>, block: Block) -> Incoming {
        let has_length = if block.more { request.payload.len() == block.size.octets() } else { true };
        if !has_length || request.payload.len() > block.size.octets() {
            return refusal(ResponseType::BadRequest);
        }
        let at = self.uploads.iter().position(|kept| kept.key == key);
        let before = at.map(|at| self.uploads.remove(at)).filter(|kept| now < kept.until && block.number > 0);
        let mut body = before.map_or_else(Vec::new, |kept| kept.content);
        if block.offset() != body.len() {
            return refusal(ResponseType::RequestEntityIncomplete);
        }
        let announced = message::number(&request, CoapOption::Size1).unwrap_or(0) as usize;
        if announced.max(body.len() + request.payload.len()) > self.limit {
            let mut answer = message::response(ResponseType::RequestEntityTooLarge, []);
            message::set_number(&mut answer, CoapOption::Size1, self.limit as u32);
            return Incoming::Part(answer);
        }
        body.append(&mut request.payload);
        if !block.more {
            request.payload = body;
            return Incoming::Whole(request);
        }
        keep(&mut self.uploads, Kept { key, until: now.saturating_add(self.lifetime), content: body });
        let mut answer = message::response(ResponseType::Continue, []);
        Block { size: block.size.min(self.size), ..block }.set(&mut answer, CoapOption::Block1);
        Incoming::Part(answer)
    }

    /// Returns the response to a whole request: the block that the request asks for, if the response has several.
    pub fn send(&mut self, now: Duration, request: &Packet, response: Packet) -> Packet {
        let asked = Block::of(request, CoapOption::Block2).ok().flatten();
        let size = asked.map_or(self.size, |block| block.size.min(self.size));
        let offset = asked.map_or(0, Block::offset);
        let answer = if offset == 0 && response.payload.len() <= size.octets() {
            response
        } else {
            let whole = Whole::from(response);
            let block = whole.part(offset, size);
            let until = now.saturating_add(self.lifetime);
            keep(&mut self.downloads, Kept { key: key(request), until, content: whole });
            block.unwrap_or_else(|| message::response(ResponseType::BadRequest, []))
        };
        self.send_whole(request, answer)
    }

    /// Returns the response to a whole request that asks for no blocks of it, if the response fits into one message.
    pub fn send_whole(&self, request: &Packet, mut response: Packet) -> Packet {
        if let Ok(Some(block)) = Block::of(request, CoapOption::Block1) {
            Block { size: block.size.min(self.size), ..block }.set(&mut response, CoapOption::Block1);
        }
        response
    }
}

/// Keeps one more body, in place of the one with the same key, or of the oldest one if there are too many.
fn keep<T>(all: &mut Vec<Kept<T>>, kept: Kept<T>) {
    all.retain(|other| other.key != kept.key);
    if all.len() == KEPT {
        all.remove(0);
    }
    all.push(kept);
}

fn refusal(code: ResponseType) -> Incoming {
    Incoming::Part(message::response(code, []))
}

impl From<Packet> for Whole {
    fn from(mut response: Packet) -> Self {
        let body = std::mem::take(&mut response.payload);
        Self { head: without_blocks(response), body }
    }
}

impl Whole {
    /// The block that begins at this octet. `None` if there is none.
    fn part(&self, offset: usize, size: BlockSize) -> Option<Packet> {
        let rest = self.body.get(offset..).filter(|rest| !rest.is_empty())?;
        let block = Block::at(offset, self.body.len(), size)?;
        let mut packet = self.head.clone();
        packet.payload = rest[..rest.len().min(size.octets())].to_vec();
        block.set(&mut packet, CoapOption::Block2);
        if offset == 0 {
            message::set_number(&mut packet, CoapOption::Size2, self.body.len() as u32);
        }
        Some(packet)
    }
}

/// The common part of blocks of the same body: the method, and all options but those of blocks and of Observe (RFC 7959
/// sections 2.4 and 2.5).
fn key(request: &Packet) -> Vec<u8> {
    let mut packet = without_blocks(request.clone());
    packet.clear_option(CoapOption::Observe);
    packet.payload.clear();
    packet.set_token(Vec::new());
    packet.header.message_id = 0;
    packet.header.set_type(message::MessageType::Confirmable);
    // An option that cannot be written was not read.
    packet.to_bytes_unlimited().unwrap_or_default()
}
