import type { JobStep } from '#lib/jobs/schemas.ts'
import { endedLine, endText, farText, layoutOf, runningLine } from './progress-line.ts'

/** Shows people how far a job is. */
export interface Progress {
  /** The steps as they are now. */
  show(steps: readonly JobStep[]): void
  /** A line between, which stays. */
  say(text: string): void
}

/** What a failure kept from beginning has nothing to tell of itself. */
const hasEnded = ({ state, message }: JobStep): boolean =>
  state === 'completed' || state === 'failed' || (state === 'skipped' && message !== undefined)

/** Milliseconds after which a log without a line looks dead. */
const silence = 30_000

/** Gives those steps that have ended since it was asked last. */
const createNews = () => {
  const told = new Set<string>()
  return (steps: readonly JobStep[]): readonly JobStep[] => {
    const news = steps.filter(step => hasEnded(step) && !told.has(step.name))
    for (const { name } of news) told.add(name)
    return news
  }
}

/** What has ended stays on the terminal; below it what is under way, drawn again in its place. */
const onTerminal = (output: NodeJS.WriteStream): Progress => {
  const newsIn = createNews()
  let live: readonly string[] = []
  const draw = (staying: readonly string[], next: readonly string[]): void => {
    const back = live.length > 0 ? `\x1b[${live.length}A` : ''
    output.write(`${back}\r\x1b[J${[...staying, ...next].map(line => `${line}\n`).join('')}`)
    live = next
  }
  return {
    show(steps) {
      const layout = layoutOf(steps, output)
      const running = steps.filter(({ state }) => state === 'running')
      draw(
        newsIn(steps).map(step => endedLine(step, layout)),
        running.map(step => runningLine(step, layout)),
      )
    },
    say: text => draw([text], live),
  }
}

/** A line for each step that has ended, and now and then one for each that takes long. */
const onPipe = (output: NodeJS.WriteStream): Progress => {
  const newsIn = createNews()
  let last = Date.now()
  const write = (text: string): void => {
    last = Date.now()
    output.write(`${text}\n`)
  }
  return {
    show(steps) {
      for (const step of newsIn(steps)) write(`${step.display_name}: ${endText(step)}`)
      if (Date.now() - last < silence) return
      for (const step of steps) if (step.state === 'running') write(`${step.display_name}: ${farText(step)}`)
    },
    say: write,
  }
}

export const createProgress = (output: NodeJS.WriteStream): Progress =>
  output.isTTY ? onTerminal(output) : onPipe(output)
