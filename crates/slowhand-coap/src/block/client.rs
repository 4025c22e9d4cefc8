use super::{Block, BlockError, BlockSize, without_blocks};
use crate::message::{self, Class, CoapOption, MessageClass, Packet, ResponseType};

/// A request of a client whose body, or that of its response, may have many blocks. Each step is a request with a response of its
/// own.
#[derive(Clone, Debug)]
pub struct Client {
    /// The request without a body.
    request: Packet,
    body: Vec<u8>,
    /// The size of its blocks.
    size: BlockSize,
    /// The block of the response that the request asks for.
    asked: Option<Block>,
    /// The most octets of the response's body.
    limit: usize,
    /// Octets of `body` before the block that is on its way. `None` if all of it was taken.
    sending: Option<usize>,
    /// The response from its first block on, with the body so far.
    response: Option<Packet>,
}

/// The consequence of a response.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Send this request.
    Next(Packet),
    /// The response to the whole request, with the whole body.
    Done(Packet),
    /// The transfer has ended without it.
    Failed(BlockError),
}

impl Client {
    /// The transfer of a request, and what to send first. The blocks of its body have `size`, or less if the server wants it. Those of
    /// the response are as large as the server wants, or as [`ask_for`](super::ask_for) says. The body of the response has at most
    /// `limit` octets.
    ///
    /// # Errors
    /// The body has too many blocks, or the option Block2 of the request is not possible.
    pub fn new(mut request: Packet, size: BlockSize, limit: usize) -> Result<(Self, Packet), BlockError> {
        let body = std::mem::take(&mut request.payload);
        let asked = Block::of(&request, CoapOption::Block2)?;
        request.clear_option(CoapOption::Block2);
        let mut client = Self { request, body, size, asked, limit, sending: Some(0), response: None };
        let first = client.upload(0)?;
        client.request.clear_option(CoapOption::Observe);
        Ok((client, first))
    }

    /// The transfer of a request whose body fits into one message, whatever its length, and what to send first. The body of the
    /// response has at most `limit` octets.
    ///
    /// # Errors
    /// The option Block2 of the request is not possible.
    pub fn whole(mut request: Packet, limit: usize) -> Result<(Self, Packet), BlockError> {
        let body = std::mem::take(&mut request.payload);
        let (client, mut first) = Self::new(request, BlockSize::LARGEST, limit)?;
        first.payload = body;
        Ok((client, first))
    }

    /// Processes the response to the last request. A notification is a response to the first one.
    pub fn handle_response(&mut self, response: Packet) -> Step {
        let next = match self.sending {
            Some(offset) if self.body.len() > self.size.octets() || offset > 0 => self.uploaded(offset, response),
            _ => self.download(response),
        };
        next.unwrap_or_else(Step::Failed)
    }

    /// The request with the block at this offset; with the whole body if that is one block.
    fn upload(&mut self, offset: usize) -> Result<Packet, BlockError> {
        self.sending = Some(offset);
        let mut packet = self.request.clone();
        let block = Block::at(offset, self.body.len(), self.size).ok_or(BlockError::TooManyBlocks)?;
        let end = self.body.len().min(offset + self.size.octets());
        packet.payload = self.body[offset..end].to_vec();
        if block.more || offset > 0 {
            block.set(&mut packet, CoapOption::Block1);
        }
        if block.more && offset == 0 {
            message::set_number(&mut packet, CoapOption::Size1, self.body.len() as u32);
        }
        if let Some(asked) = self.asked.filter(|_| !block.more) {
            asked.set(&mut packet, CoapOption::Block2);
        }
        Ok(packet)
    }

    /// The server has answered to the block at this offset, which is one of several.
    fn uploaded(&mut self, offset: usize, response: Packet) -> Result<Step, BlockError> {
        let answer = Block::of(&response, CoapOption::Block1)?;
        let smaller = answer.map(|block| block.size).filter(|size| *size < self.size);
        if message::class(&response) != Class::Success {
            // Section 2.9.3: the same from the beginning, in smaller blocks.
            let is_too_large = response.header.code == MessageClass::Response(ResponseType::RequestEntityTooLarge);
            let Some(size) = smaller.filter(|_| is_too_large) else { return Ok(Step::Done(response)) };
            self.size = size;
            return self.upload(0).map(Step::Next);
        }
        let sent = self.size.octets();
        if offset + sent >= self.body.len() {
            return self.download(response);
        }
        let number = (offset / sent) as u32;
        if answer.is_none_or(|block| block.number != number) {
            return Err(BlockError::Sequence { expected: offset });
        }
        // Section 2.3: the block was taken whole, so the next one begins after it also if it is smaller.
        self.size = smaller.unwrap_or(self.size);
        self.upload(offset + sent).map(Step::Next)
    }

    /// A response to the whole request has come, or a block of it.
    fn download(&mut self, mut response: Packet) -> Result<Step, BlockError> {
        self.sending = None;
        let block = Block::of(&response, CoapOption::Block2)?;
        let have = self.response.as_ref().map_or(0, |before| before.payload.len());
        if message::class(&response) != Class::Success {
            return Ok(Step::Done(response));
        }
        let Some(block) = block else {
            let is_whole = have == 0;
            return is_whole
                .then(|| Step::Done(without_blocks(response)))
                .ok_or(BlockError::Sequence { expected: have });
        };
        let is_right_length = !block.more || response.payload.len() == block.size.octets();
        if block.offset() != have || !is_right_length || response.payload.len() > block.size.octets() {
            return Err(BlockError::Sequence { expected: have });
        }
        let announced = message::number(&response, CoapOption::Size2).unwrap_or(0) as usize;
        if announced.max(have + response.payload.len()) > self.limit {
            return Err(BlockError::TooLong { limit: self.limit });
        }
        let whole = match &mut self.response {
            None => self.response.insert(response),
            Some(whole) => {
                if whole.get_first_option(CoapOption::ETag) != response.get_first_option(CoapOption::ETag) {
                    return Err(BlockError::Changed);
                }
                whole.payload.append(&mut response.payload);
                whole
            }
        };
        if !block.more {
            return Ok(Step::Done(without_blocks(whole.clone())));
        }
        let mut next = self.request.clone();
        let block = Block::at(whole.payload.len(), 0, block.size).ok_or(BlockError::TooManyBlocks)?;
        block.set(&mut next, CoapOption::Block2);
        Ok(Step::Next(next))
    }
}
