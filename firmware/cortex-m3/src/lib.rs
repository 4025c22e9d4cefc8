//! The board mps2-an385 of QEMU, a Cortex-M3: its start, its clock, its console, and a register as its radio.

#![no_std]

use core::arch::{asm, global_asm};
use core::ops::Range;
use core::panic::PanicInfo;

use firmware_session::{Board, Register};

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

// Copying and filling, as the compiler asks for it (RTABI of Arm, section 4.3.4). The functions of `compiler_builtins`, which stand
// back, are made for speed, and have 600 octets.
global_asm!(
    r#"
    .syntax unified
    .section .text.copy, "ax"
    .global __aeabi_memcpy8, __aeabi_memcpy4, __aeabi_memcpy, memcpy
    .thumb_func
__aeabi_memcpy8:
    .thumb_func
__aeabi_memcpy4:
1:  subs r2, #4
    blt 2f
    ldr r3, [r1], #4
    str r3, [r0], #4
    b 1b
2:  adds r2, #4
    .thumb_func
__aeabi_memcpy:
    .thumb_func
memcpy:
    cbz r2, 4f
3:  subs r2, #1
    ldrb r3, [r1, r2]
    strb r3, [r0, r2]
    bne 3b
4:  bx lr

    .section .text.fill, "ax"
    .global memset, __aeabi_memclr8, __aeabi_memclr4, __aeabi_memclr, __aeabi_memset8, __aeabi_memset4, __aeabi_memset
    .thumb_func
memset:
    mov r3, r1
    mov r1, r2
    mov r2, r3
    b __aeabi_memset
    .thumb_func
__aeabi_memclr8:
    .thumb_func
__aeabi_memclr4:
    .thumb_func
__aeabi_memclr:
    movs r2, #0
    .thumb_func
__aeabi_memset8:
    .thumb_func
__aeabi_memset4:
    .thumb_func
__aeabi_memset:
    cbz r1, 2f
1:  subs r1, #1
    strb r2, [r0, r1]
    bne 1b
2:  bx lr
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

    fn free_stack() -> Range<*mut u8> {
        (&raw mut bss_end).cast()..stack_pointer() as *mut u8
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

/// A register of the board that takes and gives octets.
const RADIO: *mut u32 = 0x4000_4000 as *mut u32;

impl Register for Mps2 {
    fn read() -> u8 {
        // SAFETY: a register.
        unsafe { RADIO.read_volatile() as u8 }
    }

    fn write(octet: u8) {
        // SAFETY: a register.
        unsafe { RADIO.write_volatile(octet.into()) };
    }
}
