//! The board mps2-an385 of QEMU, a Cortex-M3: its start, its clock, its console, and a radio.

#![no_std]

use core::arch::{asm, global_asm};
use core::panic::PanicInfo;

use firmware_session::Board;
use firmware_session::echo::{Instant, Network};

global_asm!(
    r#"
    .syntax unified
    .section .vectors, "a"
    .word stack_top
    .word reset + 1
    .rept 14
    .word fault + 1
    .endr

    .section .text.reset, "ax"
    .thumb_func
    .global reset
reset:
    ldr r0, =bss_start
    ldr r1, =bss_end
    movs r2, #0
1:  cmp r0, r1
    bhs 2f
    str r2, [r0], #4
    b 1b
2:  ldr r0, =data_start
    ldr r1, =data_end
    ldr r2, =data_load
3:  cmp r0, r1
    bhs 4f
    ldr r3, [r2], #4
    str r3, [r0], #4
    b 3b
4:  bl main
    .thumb_func
fault:
    b .
"#
);

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    exit(false)
}

/// The first timer of the CMSDK (ARM DDI 0479): its registers CTRL, VALUE and RELOAD. It counts down at 25 MHz.
const TIMER: *mut u32 = 0x4000_0000 as *mut u32;

/// Instructions in a tick of the timer: QEMU's `-icount shift=3` lets each take 8 ns.
const INSTRUCTIONS: u32 = 5;

/// What the stack is painted with.
const PAINT: u32 = 0xa5a5_a5a5;

unsafe extern "C" {
    static mut bss_end: u32;
}

/// The board.
pub struct Mps2;

impl Board for Mps2 {
    fn start() {
        // SAFETY: the registers of a timer that nothing else uses.
        unsafe {
            TIMER.add(1).write_volatile(u32::MAX);
            TIMER.add(2).write_volatile(u32::MAX);
            TIMER.write_volatile(1);
        }
    }

    fn now() -> u32 {
        // SAFETY: a register of the timer.
        let ticks = unsafe { !TIMER.add(1).read_volatile() };
        ticks.wrapping_mul(INSTRUCTIONS)
    }

    fn print(octet: u8) {
        /// SYS_WRITEC of Arm's semihosting.
        const WRITE: u32 = 3;
        call_host(WRITE, &raw const octet as u32);
    }

    #[inline(never)]
    fn paint() {
        // SAFETY: between the statics and this function's frame nothing is in use.
        unsafe {
            let mut place = &raw mut bss_end;
            // The frame of this function is small, but not empty.
            let end = (stack_pointer() - 64) as *mut u32;
            while place < end {
                place.write_volatile(PAINT);
                place = place.add(1);
            }
        }
    }

    #[inline(never)]
    fn depth() -> usize {
        // SAFETY: between the statics and the stack all is RAM.
        unsafe {
            let mut place = &raw const bss_end;
            while place.read_volatile() == PAINT {
                place = place.add(1);
            }
            stack_pointer() as usize - place as usize
        }
    }

    fn exit(is_well: bool) -> ! {
        exit(is_well)
    }
}

fn stack_pointer() -> u32 {
    let pointer;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, sp", out(reg) pointer) };
    pointer
}

fn call_host(operation: u32, argument: u32) {
    // SAFETY: a breakpoint that the host answers; it writes r0 only.
    unsafe { asm!("bkpt 0xab", inout("r0") operation => _, in("r1") argument) };
}

fn exit(is_well: bool) -> ! {
    /// SYS_EXIT, ADP_Stopped_ApplicationExit and ADP_Stopped_RunTimeErrorUnknown of Arm's semihosting.
    const EXIT: u32 = 0x18;
    call_host(EXIT, if is_well { 0x20026 } else { 0x20023 });
    loop {}
}

/// A radio whose only register takes and gives octets: code that no compiler can leave out, and as little as possible of it.
pub struct Radio;

const REGISTER: *mut u32 = 0x4000_4000 as *mut u32;

fn read() -> u32 {
    // SAFETY: a register.
    unsafe { REGISTER.read_volatile() }
}

fn write(octet: u8) {
    // SAFETY: a register.
    unsafe { REGISTER.write_volatile(octet.into()) };
}

impl Network for Radio {
    type Address = [u8; 2];

    fn now(&self) -> Instant {
        Instant::from_millis(read().into())
    }

    fn random(octets: &mut [u8]) {
        octets.iter_mut().for_each(|octet| *octet = read() as u8);
    }

    fn send(&mut self, _: [u8; 2], datagram: &[u8]) {
        datagram.iter().for_each(|octet| write(*octet));
    }

    fn receive(&mut self, _: Option<Instant>, datagram: &mut [u8]) -> Option<([u8; 2], usize)> {
        let length = (read() as usize).min(datagram.len());
        datagram.iter_mut().take(length).for_each(|octet| *octet = read() as u8);
        (length > 0).then_some(([read() as u8, read() as u8], length))
    }
}
