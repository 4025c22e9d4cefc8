//! Objects that are signed and encrypted once (`slowhand_coap::objects`), on a device whose operations take time.

use std::sync::Arc;
use std::time::Duration;

use slowhand_coap::objects::{Consumer, Error, Producer};

use crate::config::Arithmetic;
use crate::device::Device;
use crate::messages::Counting;
use crate::operation::{Performed, Processor};

/// The device of a producer or of a consumer of objects. It does one thing at a time.
pub struct ObjectDevice(Device);

impl ObjectDevice {
    /// A device on which nothing has been computed. Whatever `arithmetic` is, the results are the same.
    pub fn new(processor: Arc<dyn Processor>, arithmetic: Arithmetic) -> Self {
        // Nothing here is drawn: signatures have the nonce of RFC 6979.
        let mut device = Device::new(None, [0; 32], Duration::ZERO, arithmetic);
        device.begin(processor);
        Self(device)
    }

    /// Signs and encrypts a value, from `now` on.
    ///
    /// # Errors
    /// The errors of [`Producer::protect`].
    pub fn protect(
        &mut self,
        now: Duration,
        producer: &mut Producer,
        resource: &str,
        value: &[u8],
    ) -> Result<Vec<u8>, Error> {
        self.0.advance_clock(now);
        self.0.run(|| producer.protect(resource, value, &mut Counting))
    }

    /// Opens an object, from `now` on.
    ///
    /// # Errors
    /// The errors of [`Consumer::open`].
    pub fn open(
        &mut self,
        now: Duration,
        consumer: &mut Consumer,
        resource: &str,
        object: &[u8],
    ) -> Result<Vec<u8>, Error> {
        self.0.advance_clock(now);
        self.0.run(|| consumer.open(resource, object, &mut Counting))
    }

    /// The time until which the device computes.
    pub fn busy_until(&self) -> Duration {
        self.0.clock()
    }

    /// Passes the operations since the last call to `receive`, in time order, and forgets them.
    pub fn drain_operations(&mut self, receive: &mut dyn FnMut(Performed)) {
        self.0.drain_operations(receive);
    }
}
