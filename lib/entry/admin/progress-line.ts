import { styleText } from 'node:util'
import type { JobStep } from '#lib/jobs/schemas.ts'
import { formatByteSize } from '#lib/byte-size.ts'
import { escapeControls } from './text-table.ts'

/** The width of a bar in characters. */
const [minBarWidth, maxBarWidth] = [6, 32]
/** The width reserved for the numbers after the bar, so that the bar does not move as they grow. */
const numbersWidth = 50

const formatAmounts = ({ unit, value, total, rate, eta }: JobStep): readonly string[] => {
  if (unit !== 'bytes' || value === undefined || total === undefined) return []
  return [
    `${formatByteSize(value)} of ${formatByteSize(total)}`,
    ...(rate === undefined ? [] : [`${formatByteSize(rate)}/s`]),
    ...(eta === undefined ? [] : [`${eta} left`]),
  ]
}

/**
 * Joins as many of the parts as fit, starting with the first. It never cuts a number, because half a number is another number.
 */
const joinFitting = ([first = '', ...more]: readonly string[], width: number): string => {
  const parts = [first.slice(0, width), ...more]
  const lengths = parts.map((_, index) => parts.slice(0, index + 1).join('  ').length)
  return parts.slice(0, lengths.filter(length => length <= width).length).join('  ')
}

/** Formats the progress of a running step as text. */
export const formatProgress = (step: JobStep): string =>
  [step.has_percentage ? `${Math.floor(step.current_percentage)}%` : 'under way', ...formatAmounts(step)].join(', ')

/** Formats the numbers of a completed step. */
const formatOutcomes = ({ state, unit, total, rate }: JobStep): readonly string[] => {
  if (state !== 'completed' || unit !== 'bytes' || total === undefined) return []
  return [formatByteSize(total), ...(rate === undefined ? [] : [`at ${formatByteSize(rate)}/s`])]
}

/** Formats the end of a step as text. */
export const formatEnd = (step: JobStep): string => {
  const end = step.state === 'completed' ? 'done' : step.state === 'failed' && 'failed'
  return escapeControls([end, formatOutcomes(step).join(' '), step.message].filter(Boolean).join(', '))
}

/** The common layout of the lines of a job. */
export interface Layout {
  /** The width of the terminal. Redrawn lines must not be longer, because a wrapped line cannot be redrawn in its place. */
  readonly columns: number
  readonly titleWidth: number
  readonly paint: (color: 'cyan' | 'dim' | 'green' | 'red', text: string) => string
}

const marks = {
  pending: ['dim', '·'],
  running: ['cyan', '▸'],
  completed: ['green', '✔'],
  failed: ['red', '✘'],
  skipped: ['dim', '–'],
} as const
const formatMark = ({ state }: JobStep, paint: Layout['paint']): string => {
  const [color, mark] = marks[state]
  return paint(color, mark)
}

/** Creates the layout for the steps of a job on this terminal. */
export const createLayout = (steps: readonly JobStep[], output: NodeJS.WriteStream): Layout => ({
  // Some terminals report 0.
  columns: output.columns || 80,
  titleWidth: Math.max(0, ...steps.filter(step => step.has_percentage).map(({ display_name: title }) => title.length)),
  // Without colors if the terminal has none or the user has disabled them.
  paint: (color, text) => styleText(color, text, { stream: output }),
})

/** Formats a running step. Its bar takes the free width; a narrow terminal gets no bar. */
export const formatRunningLine = (step: JobStep, { columns, titleWidth, paint }: Layout): string => {
  const title = step.display_name
  const mark = formatMark(step, paint)
  if (!step.has_percentage) return `${mark} ${title.slice(0, columns - 3)}`
  const percent = `${Math.floor(step.current_percentage)}%`.padStart(4)
  const numbers = [percent, ...formatAmounts(step)]
  const width = Math.min(maxBarWidth, columns - titleWidth - numbersWidth - 5)
  if (width < minBarWidth) return `${mark} ${joinFitting([title, ...numbers], columns - 3)}`
  const full = Math.round((step.current_percentage / 100) * width)
  const bar = paint('cyan', '━'.repeat(full)) + paint('dim', '─'.repeat(width - full))
  return `${mark} ${title.padEnd(titleWidth)} ${bar} ${joinFitting(numbers, numbersWidth)}`
}

/** Formats an ended step. Its message is not cut: the line is never redrawn, so it may wrap. */
export const formatEndedLine = (step: JobStep, { columns, titleWidth, paint }: Layout): string => {
  const { display_name: title, message } = step
  const parts = formatOutcomes(step)
  const isAlone = parts.length === 0 && message === undefined
  const wholeLine = isAlone ? title : [title.padEnd(titleWidth), ...parts].join(' ')
  const line = wholeLine.length <= columns - 3 ? wholeLine : joinFitting([title, ...parts], columns - 3)
  return `${formatMark(step, paint)} ${line}${message === undefined ? '' : `  ${escapeControls(message)}`}`
}
