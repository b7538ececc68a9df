import type { JobStep } from '#lib/jobs/schemas.ts'
import { escapeControls } from './text-table.ts'
import { formatEndedLine, formatEnd, formatProgress, createLayout, formatRunningLine } from './progress-line.ts'

/** Shows the progress of a job. */
export interface Progress {
  /** Shows the present steps. */
  show(steps: readonly JobStep[]): void
  /** Prints a text that stays. */
  print(text: string): void
}

/** True if a step has an end to report. A failure skips the later steps without a message. */
const hasEnded = ({ state, message }: JobStep): boolean =>
  state === 'completed' || state === 'failed' || (state === 'skipped' && message !== undefined)

/** Milliseconds after which output without a new line looks as if the program hangs. */
const maxSilence = 30_000

/** Creates a filter that returns each ended step once. */
const createEndedStepFilter = () => {
  const reported = new Set<string>()
  return (steps: readonly JobStep[]): readonly JobStep[] => {
    const ended = steps.filter(step => hasEnded(step) && !reported.has(step.name))
    for (const { name } of ended) reported.add(name)
    return ended
  }
}

/** Shows progress on a terminal: ended steps stay, and the running ones are redrawn below them. */
const createTerminalProgress = (output: NodeJS.WriteStream): Progress => {
  const filterEnded = createEndedStepFilter()
  let runningLines: readonly string[] = []
  const draw = (endedLines: readonly string[], nextLines: readonly string[]): void => {
    const moveUp = runningLines.length > 0 ? `\x1b[${runningLines.length}A` : ''
    output.write(`${moveUp}\r\x1b[J${[...endedLines, ...nextLines].map(line => `${line}\n`).join('')}`)
    runningLines = nextLines
  }
  return {
    show(steps) {
      const layout = createLayout(steps, output)
      const running = steps.filter(({ state }) => state === 'running')
      draw(
        filterEnded(steps).map(step => formatEndedLine(step, layout)),
        running.map(step => formatRunningLine(step, layout)),
      )
    },
    print: text => draw([text], runningLines),
  }
}

/** Shows progress on a pipe: a line for each ended step, and from time to time one for each running step. */
const createPipeProgress = (output: NodeJS.WriteStream): Progress => {
  const filterEnded = createEndedStepFilter()
  let lastWrite = Date.now()
  const write = (text: string): void => {
    lastWrite = Date.now()
    output.write(`${text}\n`)
  }
  return {
    show(steps) {
      for (const step of filterEnded(steps)) write(`${step.display_name}: ${formatEnd(step)}`)
      if (Date.now() - lastWrite < maxSilence) return
      for (const step of steps) if (step.state === 'running') write(`${step.display_name}: ${formatProgress(step)}`)
    },
    print: write,
  }
}

/** Creates the progress for a terminal or a pipe. */
export const createProgress = (output: NodeJS.WriteStream): Progress => {
  const { show, print } = output.isTTY ? createTerminalProgress(output) : createPipeProgress(output)
  return {
    // A title can have the name of a machine or a file, which somebody else has chosen.
    show: steps => show(steps.map(step => ({ ...step, display_name: escapeControls(step.display_name) }))),
    print,
  }
}
