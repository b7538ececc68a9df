import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Problem } from '../parts/problem.tsx'
import { messageOf } from '../parts/text.ts'
import type { MachineRow } from '../state/machines.ts'

/** The screen of a machine, with its keyboard and its pointer. The viewer is loaded when the panel is opened. */
export const ScreenPanel = ({ machine: { ID: id, State: state } }: { readonly machine: MachineRow }): JSX.Element => {
  const frame = useRef<HTMLDivElement>(null)
  /** Behind the screen, so that the tabulator goes on from there. */
  const behind = useRef<HTMLSpanElement>(null)
  const [status, setStatus] = useState('Connecting…')
  const [problem, setProblem] = useState<string>()
  const [attempt, setAttempt] = useState(0)
  const isOn = state === 'running' || state === 'paused'
  useEffect(() => {
    if (!isOn) return
    let isClosed = false
    let close = (): void => {}
    const open = async (): Promise<void> => {
      const { openScreen } = await import('./viewer.ts')
      if (isClosed || !frame.current) return
      close = await openScreen(id, frame.current, {
        onStatus: setStatus,
        onLeave: () => behind.current?.focus(),
      })
      if (isClosed) close()
    }
    setProblem(undefined)
    open().catch(error => setProblem(messageOf(error)))
    return () => {
      isClosed = true
      close()
    }
  }, [id, isOn, attempt])
  return (
    <section class="console" aria-label="Screen">
      <div class="bar">
        <span class="connection" role="status">
          {isOn ? status : 'The machine does not run.'}
        </span>
        <button type="button" onClick={() => setAttempt(attempt + 1)}>
          Connect again
        </button>
        <span class="hint">
          <kbd>Ctrl</kbd>+<kbd>]</kbd> leaves the screen.
        </span>
      </div>
      <Problem text={problem} />
      <div class="frame screen" ref={frame} />
      <span ref={behind} tabIndex={-1} />
    </section>
  )
}
