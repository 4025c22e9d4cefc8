//! The ATmega128RFA1: its clock, its console, and a register of its radio. `simavr` runs it, exact to the cycle.

#![no_std]
#![feature(asm_experimental_arch)]

use core::arch::asm;
use core::ops::Range;
use core::panic::PanicInfo;

use firmware_session::{Board, Register};

/// Copies octets. That of `compiler_builtins`, which stands back, is made for processors with words, and has 400 octets.
///
/// # Safety
/// As for memcpy of C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, octets: usize) -> *mut u8 {
    let (mut place, mut from) = (to, from);
    for _ in 0..octets {
        // SAFETY: both ranges are the caller's. Volatile: otherwise the compiler calls memcpy.
        unsafe {
            place.write_volatile(from.read_volatile());
            (place, from) = (place.add(1), from.add(1));
        }
    }
    to
}

/// Fills octets.
///
/// # Safety
/// As for memset of C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, octet: i16, octets: usize) -> *mut u8 {
    let mut place = to;
    for _ in 0..octets {
        // SAFETY: the range is the caller's.
        unsafe {
            place.write_volatile(octet as u8);
            place = place.add(1);
        }
    }
    to
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    stop()
}

/// Registers of the ATmega128RFA1 (its datasheet, section 33): the first serial port, and two timers of 16 bits.
mod register {
    pub(crate) const UCSR0A: *mut u8 = 0xc0 as *mut u8;
    pub(crate) const UCSR0B: *mut u8 = 0xc1 as *mut u8;
    pub(crate) const UDR0: *mut u8 = 0xc6 as *mut u8;
    pub(crate) const TCCR1B: *mut u8 = 0x81 as *mut u8;
    pub(crate) const TCNT1L: *mut u8 = 0x84 as *mut u8;
    pub(crate) const TCNT1H: *mut u8 = 0x85 as *mut u8;
    pub(crate) const TCCR3B: *mut u8 = 0x91 as *mut u8;
    pub(crate) const TCNT3L: *mut u8 = 0x94 as *mut u8;
    pub(crate) const TCNT3H: *mut u8 = 0x95 as *mut u8;
}
use register::*;

unsafe extern "C" {
    /// Where the statics end.
    static mut _end: u8;
}

/// The board.
pub struct Atmega128Rfa1;

impl Board for Atmega128Rfa1 {
    fn start() {
        /// The transmitter of the serial port is on.
        const TXEN: u8 = 1 << 3;
        /// A timer counts each cycle, or one of 1024.
        const EACH: u8 = 1;
        const OF_1024: u8 = 5;
        // SAFETY: registers that nothing else uses.
        unsafe {
            UCSR0B.write_volatile(TXEN);
            TCCR3B.write_volatile(OF_1024);
            TCCR1B.write_volatile(EACH);
        }
    }

    /// The low 16 bits are those of the first timer. The second one, which is slower, gives the others.
    #[inline(never)]
    fn now() -> u32 {
        // SAFETY: registers of the timers. The low octet first: it latches the high one.
        let (low, slow) = unsafe {
            let low = u16::from_le_bytes([TCNT1L.read_volatile(), TCNT1H.read_volatile()]);
            (low, u16::from_le_bytes([TCNT3L.read_volatile(), TCNT3H.read_volatile()]))
        };
        let rough = u32::from(slow) << 10;
        let off = low.wrapping_sub(rough as u16) as i16;
        rough.wrapping_add_signed(off.into())
    }

    fn print(octet: u8) {
        /// The serial port has room for an octet.
        const UDRE: u8 = 1 << 5;
        // SAFETY: registers of the serial port.
        unsafe {
            while UCSR0A.read_volatile() & UDRE == 0 {}
            UDR0.write_volatile(octet);
        }
    }

    fn free_stack() -> Range<*mut u8> {
        &raw mut _end..stack_pointer() as *mut u8
    }

    fn exit(_: bool) -> ! {
        stop()
    }
}

fn stack_pointer() -> usize {
    let (low, high): (u8, u8);
    // SAFETY: reads the registers SPL and SPH.
    unsafe { asm!("in {}, 0x3d", "in {}, 0x3e", out(reg) low, out(reg) high) };
    u16::from_le_bytes([low, high]).into()
}

/// Sleeps without interrupts, which ends `simavr`.
fn stop() -> ! {
    // SAFETY: nothing comes after it.
    unsafe { asm!("cli", "sleep") };
    loop {}
}

/// TRXFBST, the first octet of the frame buffer of the radio.
const RADIO: *mut u8 = 0x180 as *mut u8;

impl Register for Atmega128Rfa1 {
    fn read() -> u8 {
        // SAFETY: a register.
        unsafe { RADIO.read_volatile() }
    }

    fn write(octet: u8) {
        // SAFETY: a register.
        unsafe { RADIO.write_volatile(octet) };
    }
}
