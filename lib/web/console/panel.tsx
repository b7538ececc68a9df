import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { hasOptionLike, quote } from '../calls/format-path.ts'
import { Problem } from '../parts/problem.tsx'
import { messageOf } from '../parts/text.ts'
import type { MachineRow } from '../state/machines.ts'
import { useStore } from '../state/store.ts'
import { openSerial, type SerialConsole } from './serial.ts'

const connectionTexts = { connecting: 'Connecting…', live: 'Connected', offline: 'Offline, trying again…' } as const

/** How the console of the panel is connected, and who writes. */
const Status = ({ serial }: { readonly serial: SerialConsole }): JSX.Element => {
  const { connection, isWriter, note } = useStore(serial.state)
  return (
    <>
      <span class={`connection ${connection}`} role="status">
        {connectionTexts[connection]}
        {connection === 'live' && (isWriter ? ', you write' : ', you only read')}
      </span>
      {note && <span class="hint">{note}</span>}
      {connection === 'live' && !isWriter && (
        <button type="button" onClick={() => serial.takeOver()}>
          Write
        </button>
      )}
    </>
  )
}

/** The serial console of a machine. The terminal is loaded when the panel is opened. */
export const ConsolePanel = ({ machine: { ID: id, Name: name } }: { readonly machine: MachineRow }): JSX.Element => {
  const frame = useRef<HTMLDivElement>(null)
  /** Behind the terminal, so that the tabulator goes on from there. */
  const behind = useRef<HTMLSpanElement>(null)
  const [serial, setSerial] = useState<SerialConsole>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    let isClosed = false
    let close = (): void => {}
    const open = async (): Promise<void> => {
      const { createTerminal } = await import('./terminal.ts')
      if (isClosed || !frame.current) return
      const terminal = createTerminal(frame.current, {
        onInput: text => opened.send(text),
        onLeave: () => behind.current?.focus(),
      })
      const opened = openSerial(id, bytes => terminal.write(bytes))
      close = () => {
        opened.close()
        terminal.dispose()
      }
      setSerial(opened)
    }
    open().catch(error => setProblem(messageOf(error)))
    return () => {
      isClosed = true
      close()
    }
  }, [id])
  return (
    <section class="console" aria-label="Serial console">
      <div class="bar">
        {serial && <Status serial={serial} />}
        <span class="hint">
          <kbd>Ctrl</kbd>+<kbd>]</kbd> leaves the terminal. In a shell:{' '}
          <code>
            vmhost console {hasOptionLike([quote(name)]) && '-- '}
            {quote(name)}
          </code>
        </span>
      </div>
      <Problem text={problem} />
      <div class="frame" ref={frame} />
      <span ref={behind} tabIndex={-1} />
    </section>
  )
}
