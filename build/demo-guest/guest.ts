import { createAssembler, type Assembler } from './assembler.ts'
import { addBootCounter } from './boot-counter.ts'

export { bootCount } from './boot-counter.ts'

// Where things lie in the guest's memory.
const origin = 0x100000
const interruptTable = 0x110000
const sector = 0x111000
const stack = 0x180000

const serial = 0x3f8
/** Power management registers as QEMU's BIOS places them: status, +2 enable, +4 control. */
const power = 0x600
const powerButton = 0x0100
const powerOff = 0x2000

const addHeader = (a: Assembler): void => {
  const flags = 0x00010000 // the address fields are given
  a.dword(0x1badb002)
  a.dword(flags)
  a.dword(-(0x1badb002 + flags))
  for (const value of [origin, origin, 0, 0]) a.dword(value) // header, load start, load end and bss end: the whole file
  a.dword({ label: 'start' })
}

/** Segments, interrupts (one handler for all) and the timer at 20 Hz. */
const addStart = (a: Assembler): void => {
  a.label('gdt')
  a.bytes(0, 0, 0, 0, 0, 0, 0, 0)
  a.bytes(0xff, 0xff, 0, 0, 0, 0x9a, 0xcf, 0) // 08: code, all 4 GB
  a.bytes(0xff, 0xff, 0, 0, 0, 0x92, 0xcf, 0) // 10: data, all 4 GB
  a.label('gdtr')
  a.bytes(0x17, 0)
  a.dword({ label: 'gdt' })
  a.label('idtr')
  a.bytes(0xff, 0x01) // 64 entries
  a.dword(interruptTable)

  a.label('start')
  a.bytes(0xfa, 0xfc, 0x0f, 0x01, 0x15) // cli; cld; lgdt
  a.dword({ label: 'gdtr' })
  a.bytes(0xea) // jmp 08:protected
  a.dword({ label: 'protected' })
  a.bytes(8, 0)
  a.label('protected')
  a.bytes(0x66, 0xb8, 0x10, 0x00, 0x8e, 0xd8, 0x8e, 0xc0, 0x8e, 0xd0) // ds = es = ss = 10
  a.set('esp', stack)
  a.set('edi', interruptTable)
  a.set('ecx', 64)
  a.label('fill table')
  a.set('eax', { label: 'interrupt' })
  a.bytes(0x66, 0x89, 0x07, 0x66, 0xc7, 0x47, 0x02, 0x08, 0x00) // [edi] = low half; [edi+2] = code segment
  a.bytes(0x66, 0xc7, 0x47, 0x04, 0x00, 0x8e) // [edi+4] = interrupt gate, present
  a.bytes(0xc1, 0xe8, 0x10, 0x66, 0x89, 0x47, 0x06, 0x83, 0xc7, 0x08) // [edi+6] = high half; edi += 8
  a.loop('fill table')
  a.bytes(0x0f, 0x01, 0x1d) // lidt
  a.dword({ label: 'idtr' })
  // Both interrupt controllers: vectors 20 and 28, everything masked but the timer.
  for (const [port, value] of [
    [0x20, 0x11],
    [0xa0, 0x11],
    [0x21, 0x20],
    [0xa1, 0x28],
    [0x21, 4],
    [0xa1, 2],
    [0x21, 1],
    [0xa1, 1],
    [0x21, 0xfe],
    [0xa1, 0xff],
  ] as const)
    a.outLow(port, value)
  a.outLow(0x43, 0x34) // timer 0: rate generator, divided by e90b
  a.outLow(0x40, 0x0b)
  a.outLow(0x40, 0xe9)
  a.outWord(power + 2, powerButton)
  a.bytes(0xfb) // sti
  a.jump('count boot')

  a.label('interrupt')
  a.bytes(0x43, 0x50, 0xb0, 0x20, 0xe6, 0x20, 0x58, 0xcf) // inc ebx; end of interrupt; iret
}

/**
 * The line of the boot, then the main loop: EBP = tick, EBX = timer interrupts since it, EDI = whether requests are ignored.
 */
const addMain = (a: Assembler): void => {
  a.label('counted')
  a.bytes(0x50) // push eax
  a.set('esi', { label: 'boot text' })
  a.call('print')
  a.bytes(0x58)
  a.call('print number')
  a.jump('booted')
  a.label('not counted')
  a.set('esp', stack)
  a.set('esi', { label: 'boot text' })
  a.call('print')
  a.set('esi', { label: 'no count text' })
  a.call('print')
  a.label('booted')
  a.bytes(0x31, 0xed, 0x31, 0xdb, 0x31, 0xff) // ebp = ebx = edi = 0

  a.label('main')
  a.bytes(0xf4) // hlt
  a.set('edx', serial + 5)
  a.bytes(0xec) // in al, dx
  a.compare(0xff)
  a.jumpIf('equal', 'no key') // all ones: no serial port
  a.bytes(0xa8, 1) // test: a byte has come
  a.jumpIf('notEqual', 'key')
  a.label('no key')
  a.set('edx', power)
  a.bytes(0x66, 0xed, 0x66, 0x83, 0xf8, 0xff) // in ax, dx; cmp ax, -1
  a.jumpIf('equal', 'no button')
  a.bytes(0xf6, 0xc4, powerButton >>> 8) // test ah
  a.jumpIf('notEqual', 'button')
  a.label('no button')
  a.bytes(0x83, 0xfb, 10) // cmp ebx, 10: half a second
  a.jumpIf('less', 'main')
  a.bytes(0x31, 0xdb, 0x45) // ebx = 0; inc ebp
  a.set('esi', { label: 'tick text' })
  a.call('print')
  a.bytes(0x89, 0xe8) // mov eax, ebp
  a.call('print number')
  a.jump('main')
}

/** What a key or the power button does. */
const addRequests = (a: Assembler): void => {
  a.label('key')
  a.set('edx', serial)
  a.bytes(0xec)
  for (const [key, target] of Object.entries({ q: 'power off', s: 'shut down', r: 'reset', i: 'ignore' })) {
    a.compare(key.charCodeAt(0))
    a.jumpIf('equal', target)
  }
  a.label('echo')
  a.call('print character')
  a.jump('main')
  a.label('ignore')
  a.bytes(0x47) // inc edi
  a.jump('echo')
  a.label('reset')
  a.bytes(0xb0, 0xfe, 0xe6, 0x64) // the keyboard controller's reset line
  a.jump('reset')

  a.label('button')
  a.outWord(power, powerButton) // seen
  a.label('shut down')
  a.bytes(0x85, 0xff) // test edi, edi
  a.jumpIf('notEqual', 'main')
  a.label('power off')
  a.set('esi', { label: 'bye text' })
  a.call('print')
  a.outWord(power + 4, powerOff)
  a.label('halted')
  a.bytes(0xfa, 0xf4) // cli; hlt
  a.jump('halted')
}

const addPrinting = (a: Assembler): void => {
  a.label('print character') // al
  a.bytes(0x50)
  a.set('edx', serial + 5)
  a.label('transmitter busy')
  a.bytes(0xec, 0xa8, 0x20)
  a.jumpIf('equal', 'transmitter busy')
  a.bytes(0x58)
  a.set('edx', serial)
  a.bytes(0xee, 0xc3)

  a.label('print') // esi: zero-ended text
  a.bytes(0xac, 0x84, 0xc0) // lodsb; test al, al
  a.jumpIf('equal', 'printed')
  a.call('print character')
  a.jump('print')
  a.label('printed')
  a.bytes(0xc3)

  a.label('print number') // eax as 8 hexadecimal digits and a new line
  a.set('ecx', 8)
  a.label('next digit')
  a.bytes(0xc1, 0xc0, 4, 0x50, 0x24, 0x0f) // rol eax, 4; push eax; and al, 15
  a.bytes(0x3c, 0x0a, 0x1c, 0x69, 0x2f) // cmp al, 10; sbb al, 69h; das: its ASCII digit
  a.call('print character')
  a.bytes(0x58)
  a.loop('next digit')
  a.set('esi', { label: 'new line' })
  a.jump('print')

  a.text('boot text', 'MB BOOT ')
  a.text('no count text', '--------\r\n')
  a.text('tick text', 'T ')
  a.text('bye text', 'BYE\r\n')
  a.text('new line', '\r\n')
}

/**
 * A complete guest of about 1 KB for demonstrations and tests: a multiboot (version 1) kernel in 32-bit protected mode
 * that needs no BIOS. QEMU boots it with `-kernel`, v86 with `multiboot`.
 *
 * On the first serial port (0x3f8) it prints `MB BOOT nnnnnnnn`, the number of this boot in hexadecimal, counted on the
 * primary IDE master (`bootCount` reads it; the first 12 bytes of the disk are overwritten): a number that was printed
 * is written and flushed. Without a disk that serves: `MB BOOT --------`. Then `T nnnnnnnn` every half second, from 1;
 * the tick lives in memory only. It obeys the ACPI power button (QEMU) and these bytes on the serial port:
 * - `s` a request to shut down, as the power button: prints `BYE`, powers off, halts with interrupts off
 * - `i` from now on ignore such requests, `s` and the power button; echoed
 * - `q` powers off at once, whether requests are ignored or not, as a guest does of its own accord
 * - `r` resets the machine by the keyboard controller (QEMU only: v86 has no BIOS to come back to)
 * - anything else is echoed
 */
export const buildGuest = (): Uint8Array => {
  const a = createAssembler(origin)
  addHeader(a)
  addStart(a)
  addBootCounter(a, sector)
  addMain(a)
  addRequests(a)
  addPrinting(a)
  return a.finish()
}
