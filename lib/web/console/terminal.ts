import { Terminal } from '@xterm/xterm'
import { withConstructedStyles } from './constructed-styles.ts'

export interface TerminalOptions {
  readonly onInput: (text: string) => void
  /** Ctrl-] was pressed: the keyboard leaves the terminal. */
  readonly onLeave: () => void
}

/** Lines that can be scrolled back to. */
const scrollback = 5_000

/** Puts a terminal of 80 columns and 24 lines into the page, as a serial line has no size that it could tell. */
export const createTerminal = (frame: HTMLElement, { onInput, onLeave }: TerminalOptions): Terminal => {
  const terminal = new Terminal({
    fontFamily: 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace',
    fontSize: 14,
    theme: { background: '#14161a', foreground: '#e7eaee' },
    scrollback,
    screenReaderMode: true,
  })
  terminal.attachCustomKeyEventHandler(event => {
    if (!event.ctrlKey || event.key !== ']') return true
    if (event.type === 'keydown') onLeave()
    return false
  })
  terminal.onData(onInput)
  withConstructedStyles(() => terminal.open(frame))
  terminal.focus()
  return terminal
}
