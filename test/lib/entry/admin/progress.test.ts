import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import { formatByteSize } from '#lib/byte-size.ts'
import { createProgress } from '#lib/entry/admin/job-progress.ts'
import type { JobStep } from '#lib/jobs/schemas.ts'

/** Returns what a terminal shows after this output, without colors. */
const screenOf = (written: string): string => {
  const rows = ['']
  let row = 0
  for (const [, up, clears, returns, feeds, color, plain = ''] of written.matchAll(
    // oxlint-disable-next-line no-control-regex -- terminals are told what to do by control characters
    /\x1b\[(\d+)A|(\x1b\[J)|(\r)|(\n)|(\x1b\[\d+m)|([^\x1b\r\n]+)/g,
  )) {
    if (up !== undefined) row -= Number(up)
    else if (clears !== undefined) rows.splice(row, Infinity, '')
    else if (feeds !== undefined) rows[(row += 1)] ??= ''
    else if (returns === undefined && color === undefined) rows[row] += plain
  }
  return rows.join('\n').trimEnd()
}

const step = (name: string, more: Partial<JobStep> = {}): JobStep => ({
  name,
  display_name: name,
  weight: 1,
  has_percentage: more.unit !== undefined,
  state: 'pending',
  current_percentage: 0,
  ...more,
})

describe('progress', () => {
  const open = (columns: number, isTTY = true) => {
    const output = Object.assign(new PassThrough(), { isTTY, columns })
    let written = ''
    output.on('data', (part: Buffer) => void (written += part.toString()))
    return { progress: createProgress(output as unknown as NodeJS.WriteStream), written: () => written }
  }
  const fetching = step('Fetch the pack', {
    unit: 'bytes',
    state: 'running',
    value: 1.2e9,
    total: 2e9,
    current_percentage: 60,
    rate: 210e6,
    eta: '4s',
  })
  const checked = step('Check', { state: 'completed' })
  const unpacking = step('Unpack', { unit: 'bytes', state: 'running' })

  test('on a terminal, running steps are redrawn below the ended ones', () => {
    const { progress, written } = open(100)
    progress.show([step('Check', { state: 'running' }), step('Fetch the pack', { unit: 'bytes' })])
    expect(screenOf(written())).toBe('▸ Check')
    progress.show([checked, fetching, unpacking])
    progress.print('said')
    progress.show([checked, fetching, unpacking])
    expect(screenOf(written()).split('\n')).toEqual([
      '✔ Check',
      'said',
      `▸ Fetch the pack ${'━'.repeat(19)}${'─'.repeat(12)}  60%  1.2 GB of 2.0 GB  210.0 MB/s  4s left`,
      `▸ Unpack         ${'─'.repeat(31)}   0%`,
    ])
    const ended = { ...fetching, state: 'completed', eta: undefined } as unknown as JobStep
    progress.show([checked, ended, { ...unpacking, state: 'failed' }])
    expect(screenOf(written())).toBe('✔ Check\nsaid\n✔ Fetch the pack 2.0 GB at 210.0 MB/s\n✘ Unpack')
  })

  test.for([20, 40, 60, 79, 80, 200])('no line is wider than a terminal of %i columns', columns => {
    const { progress, written } = open(columns)
    progress.show([checked, fetching, unpacking, step('a'.repeat(90), { state: 'running' })])
    for (const line of stripVTControlCharacters(written()).split('\n')) expect(line.length).toBeLessThan(columns)
    expect(written()).toContain('60%'.slice(0, columns < 24 ? 0 : 3))
  })

  test('the message of a step is printed with it, and steps that a failure skipped are not printed', () => {
    const steps = [
      { ...checked, message: 'nobody\x1b[2J has signed it' },
      step('Fetch the pack', { unit: 'bytes', state: 'skipped', message: 'not needed' }),
      step('Unpack', { state: 'failed' }),
      step('Register', { state: 'skipped' }),
    ]
    const [terminal, pipe] = [open(100), open(100, false)]
    for (const { progress } of [terminal, pipe]) progress.show(steps)
    expect(screenOf(terminal.written())).toBe(
      '✔ Check           nobody\\u001b[2J has signed it\n– Fetch the pack  not needed\n✘ Unpack',
    )
    expect(pipe.written()).toBe(
      'Check: done, nobody\\u001b[2J has signed it\nFetch the pack: not needed\nUnpack: failed\n',
    )
  })

  test('on a narrow terminal a number is printed whole or left out', () => {
    const ended = { ...fetching, state: 'completed' } as const
    const long = step('a title that is long enough for it', { unit: 'bytes' })
    for (const [columns, line] of [
      [60, `Fetch the pack${' '.repeat(20)} 2.0 GB at 210.0 MB/s`],
      [42, 'Fetch the pack  2.0 GB  at 210.0 MB/s'],
      [40, 'Fetch the pack  2.0 GB  at 210.0 MB/s'],
      [39, 'Fetch the pack  2.0 GB'],
      [20, 'Fetch the pack'],
    ] as const) {
      const { progress, written } = open(columns)
      progress.show([ended, long])
      expect(screenOf(written())).toBe(`✔ ${line}`)
    }
  })

  test('on a pipe, each ended step is a line', () => {
    const { progress, written } = open(100, false)
    progress.show([checked, fetching, unpacking])
    progress.show([checked, { ...fetching, state: 'completed' }, { ...unpacking, state: 'failed' }])
    expect(written()).toBe('Check: done\nFetch the pack: done, 2.0 GB at 210.0 MB/s\nUnpack: failed\n')
  })

  test('on a pipe, a running step is printed every 30 seconds', () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const { progress, written } = open(100, false)
      for (let second = 0; second < 65; second += 1) {
        progress.show([checked, fetching, step('Unpack', { state: 'running' })])
        vi.setSystemTime(Date.now() + 1000)
      }
      const far = 'Fetch the pack: 60%, 1.2 GB of 2.0 GB, 210.0 MB/s, 4s left\nUnpack: under way\n'
      expect(written()).toBe(`Check: done\n${far}${far}`)
    } finally {
      vi.useRealTimers()
    }
  })

  test.for([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [999_949, '999.9 kB'],
    [999_950, '1.0 MB'],
    [1.25e9, '1.3 GB'],
    [5e18, '5000.0 PB'],
  ] as const)('%i bytes are %s', ([bytes, text]) => expect(formatByteSize(bytes)).toBe(text))
})
