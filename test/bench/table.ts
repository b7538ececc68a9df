/** One measured figure beside its floor of the same run. `budget` is what the ratio or difference must keep to. */
export interface Row {
  readonly what: string
  readonly measured: string
  readonly floor: string
  readonly result: string
  readonly budget: string
  readonly kept: boolean
}

interface Figures {
  readonly measured: number
  readonly floor: number
  readonly unit: string
  readonly digits?: number
}

const show = (value: number, { unit, digits = 1 }: Figures): string => `${value.toFixed(digits)} ${unit}`

/** A row whose budget is a ratio: at most (or, with a lower bound, at least) so many times the floor. */
export const ratioRow = (what: string, figures: Figures, budget: { most: number } | { least: number }): Row => {
  const ratio = figures.measured / figures.floor
  const kept = 'most' in budget ? ratio <= budget.most : ratio >= budget.least
  return {
    what,
    measured: show(figures.measured, figures),
    floor: show(figures.floor, figures),
    result: `${ratio.toFixed(2)} ×`,
    budget: 'most' in budget ? `≤ ${budget.most} ×` : `≥ ${budget.least} ×`,
    kept,
  }
}

/** A row whose budget is a difference from the floor. */
export const differenceRow = (what: string, figures: Figures, most: number): Row => {
  const difference = figures.measured - figures.floor
  return {
    what,
    measured: show(figures.measured, figures),
    floor: show(figures.floor, figures),
    result: `+ ${show(difference, figures)}`,
    budget: `≤ + ${show(most, { ...figures, digits: 0 })}`,
    kept: difference <= most,
  }
}

/** A row whose budget is a limit, whatever the floor is, which stands beside it. */
export const limitRow = (what: string, figures: Figures, most: number): Row => ({
  what,
  measured: show(figures.measured, figures),
  floor: show(figures.floor, figures),
  result: show(figures.measured, figures),
  budget: `≤ ${show(most, { ...figures, digits: 0 })}`,
  kept: figures.measured <= most,
})

/** Prints rows as a table. */
export const printTable = (rows: readonly Row[]): void => {
  const cells = [
    ['', 'measured', 'floor', 'result', 'budget', ''],
    ...rows.map(({ what, measured, floor, result, budget, kept }) => [
      what,
      measured,
      floor,
      result,
      budget,
      kept ? 'kept' : 'MISSED',
    ]),
  ]
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map(row => row[column]!.length)))
  for (const row of cells)
    console.log(row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('   '))
}
