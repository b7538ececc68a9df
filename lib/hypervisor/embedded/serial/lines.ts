import type { V86 } from 'v86'
import type { Line, WorkerData, WorkerEvent } from '../protocol.ts'
import { createSerialInput, type SerialInput } from './input.ts'
import { createSerialBuffer } from './output.ts'

/** The serial lines of an emulated machine. */
export interface SerialLines {
  send(line: Line, bytes: Uint8Array): void
  /** Writes the output that is buffered. */
  flush(): void
  /** Called when the machine is loaded: reports whether the guest of a restored machine has the agent's line open. */
  start(): void
}

/** A serial line as v86 has it beside its types. The names are those of its source (src/uart.js). */
interface Uart {
  /** Bytes that the guest has not taken. */
  readonly input: readonly number[]
  /** The bits that the guest sets; the lowest one is DTR. */
  readonly modem_control: number
}
interface Internals {
  readonly v86: { readonly cpu: { readonly devices: Readonly<Record<'uart0' | 'uart1', Uart | undefined>> } }
}

/** Connects the serial lines of a machine with the log of its console and with the service. */
export const createSerialLines = (
  emulator: V86,
  { serialLog, serialLogSize }: WorkerData,
  report: (event: WorkerEvent) => void,
): SerialLines => {
  const log = createSerialBuffer(serialLog, serialLogSize)
  const getUart = (name: 'uart0' | 'uart1'): Uart | undefined =>
    (emulator as unknown as Internals).v86.cpu.devices[name]
  const createInput = (line: Line, at: 0 | 1): SerialInput =>
    createSerialInput({
      send: bytes => emulator.serial_send_bytes(at, bytes),
      isEmpty: () => getUart(`uart${at}`)?.input.length === 0,
      onTaken: count => report({ event: 'taken', line, count }),
    })
  const inputs = { console: createInput('console', 0), agent: createInput('agent', 1) }

  let agentOutput: number[] = []
  const reportAgentOutput = (): void => {
    report({ event: 'agent output', bytes: Uint8Array.from(agentOutput) })
    agentOutput = []
  }
  const reportAgentLine = (isOpen: boolean): void => report({ event: 'agent line', isOpen })
  emulator.add_listener('serial0-output-byte', byte => log.add(byte))
  emulator.add_listener('serial1-output-byte', byte => {
    if (agentOutput.length === 0) setImmediate(reportAgentOutput)
    agentOutput.push(byte)
  })
  // A guest sets DTR when a program opens the line. v86's types do not list the event.
  emulator.add_listener('serial1-data-terminal-ready-output' as 'mouse-enable', reportAgentLine)

  return {
    send: (line, bytes) => inputs[line].add(bytes),
    flush: log.flush,
    start() {
      const isOpen = ((getUart('uart1')?.modem_control ?? 0) & 1) !== 0
      if (isOpen) reportAgentLine(true)
    },
  }
}
