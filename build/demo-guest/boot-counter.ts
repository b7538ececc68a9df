import type { Assembler } from './assembler.ts'

/** The first 8 bytes of a disk on which the guest counts its boots; the counter follows, 32 bits little-endian. */
const magic = Buffer.from('MBBOOTC1', 'latin1')

/** How often the guest has booted from `disk` (its first 512 bytes at least); undefined when it never has. */
export const bootCount = (disk: Uint8Array): number | undefined => {
  const sector = Buffer.from(disk.buffer, disk.byteOffset, disk.byteLength)
  return sector.length >= 512 && sector.subarray(0, 8).equals(magic) ? sector.readUInt32LE(8) : undefined
}

// Ports of the primary IDE channel.
const ide = { data: 0x1f0, sectors: 0x1f2, drive: 0x1f6, command: 0x1f7, control: 0x3f6 }
const command = { read: 0x20, write: 0x30, flush: 0xe7, identify: 0xec }
/** Status bits: ERR or DF. */
const failure = 0x21

/**
 * The code at `count boot`: adds 1 to the counter in sector 0 of the primary IDE master by PIO with LBA28. It ends at
 * `counted` with the new counter in EAX, written and flushed, or at `not counted` where no disk served.
 * `sector` is the address of 512 free bytes. EBX must be counted up 20 times a second by the timer: it bounds each wait.
 */
export const addBootCounter = (a: Assembler, sector: number): void => {
  const magicWords = [magic.readUInt32LE(0), magic.readUInt32LE(4)] as const
  /** MOV dword [address], value */
  const store = (address: number, value: number): void => {
    a.bytes(0xc7, 0x05)
    a.dword(address)
    a.dword(value)
  }
  /** CMP dword [address], value */
  const compareAt = (address: number, value: number): void => {
    a.bytes(0x81, 0x3d)
    a.dword(address)
    a.dword(value)
  }
  /** Gives the drive a command; `answer` is the status bit to wait for: 8 = it has or wants data, 0 = it is done. */
  const issue = (code: number, answer: 0 | 8): void => {
    a.bytes(0x66, 0xb8, code, answer) // mov ax: al = command, ah = answer
    a.call('ide command')
  }

  a.label('count boot')
  a.out(ide.drive, 0xe0) // master, LBA
  a.call('ide settle')
  a.set('edx', ide.command)
  a.bytes(0xec, 0xfe, 0xc0) // in al, dx; inc al
  a.compare(2)
  a.jumpIf('below', 'not counted') // status ff or 00: nothing there
  a.out(ide.control, 6) // soft reset, no interrupts
  a.call('ide settle')
  a.bytes(0xb0, 2, 0xee, 0xb4, 0) // end of reset; ah = 0
  a.call('ide wait') // the error bit means nothing after a reset
  issue(command.identify, 8)
  a.call('ide take sector')
  a.bytes(0x83, 0x3d) // cmp dword [words 60 and 61: number of sectors], 0
  a.dword(sector + 120)
  a.bytes(0)
  a.jumpIf('equal', 'not counted')
  issue(command.read, 8)
  a.call('ide take sector')
  compareAt(sector, magicWords[0])
  a.jumpIf('notEqual', 'first boot')
  compareAt(sector + 4, magicWords[1])
  a.jumpIf('equal', 'next boot')
  a.label('first boot')
  store(sector, magicWords[0])
  store(sector + 4, magicWords[1])
  store(sector + 8, 0)
  a.label('next boot')
  a.bytes(0xff, 0x05) // inc dword [counter]
  a.dword(sector + 8)
  issue(command.write, 8)
  a.set('edx', ide.data)
  a.set('esi', sector)
  a.set('ecx', 256)
  a.bytes(0xf3, 0x66, 0x6f, 0xb4, 0) // rep outsw; ah = 0
  a.call('ide check')
  issue(command.flush, 0)
  a.bytes(0xa1) // mov eax, [counter]
  a.dword(sector + 8)
  a.jump('counted')

  a.label('ide command') // al = command for one sector at LBA 0, ah as in `ide wait`
  a.bytes(0x50) // push eax
  a.out(ide.drive, 0xe0)
  a.out(ide.sectors, 1)
  a.bytes(0xb0, 0, 0x42, 0xee, 0x42, 0xee, 0x42, 0xee) // the three address bytes: 0
  a.bytes(0x58, 0x42, 0x42, 0xee) // pop eax; out to the command port
  a.label('ide check') // waits, then gives up on an error
  a.call('ide wait')
  a.bytes(0xa8, failure)
  a.jumpIf('notEqual', 'not counted')
  a.bytes(0xc3)

  a.label('ide wait') // until not busy and DRQ is as in ah, at most 5 seconds; al = status
  a.call('ide settle')
  a.bytes(0x31, 0xdb) // xor ebx, ebx
  a.label('ide poll')
  a.bytes(0xec)
  a.compare(0xff)
  a.jumpIf('equal', 'not counted')
  a.bytes(0x84, 0xc0) // test al, al
  a.jumpIf('equal', 'not counted')
  a.bytes(0x88, 0xc1, 0x80, 0xe1, 0x88, 0x38, 0xe1) // cl = al & (BSY | DRQ); cmp cl, ah
  a.jumpIf('equal', 'ide ready')
  a.bytes(0x84, 0xc0)
  a.jumpIf('negative', 'ide busy')
  a.bytes(0xa8, failure)
  a.jumpIf('notEqual', 'not counted')
  a.label('ide busy')
  a.bytes(0x83, 0xfb, 100) // cmp ebx, 100 ticks
  a.jumpIf('below', 'ide poll')
  a.jump('not counted')
  a.label('ide ready')
  a.bytes(0xc3)

  a.label('ide settle') // the drive needs 400 ns to show its status: read the alternate one, and leave edx there
  a.set('edx', ide.control)
  a.set('ecx', 16)
  a.label('ide settling')
  a.bytes(0xec)
  a.loop('ide settling')
  a.bytes(0xc3)

  a.label('ide take sector')
  a.set('edx', ide.data)
  a.set('edi', sector)
  a.set('ecx', 256)
  a.bytes(0xf3, 0x66, 0x6d, 0xc3) // rep insw; ret
}
