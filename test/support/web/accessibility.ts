import axe from 'axe-core'
import type { Page } from 'playwright-core'

// The members of axe's results that are read here.
interface Results {
  readonly violations: readonly {
    readonly id: string
    readonly help: string
    readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary?: string }[]
  }[]
}

/** What axe finds wrong in a page, in light and in dark colours, a line each. */
export const findViolations = async (page: Page): Promise<readonly string[]> => {
  const found: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    // By the debugger, which a Content-Security-Policy does not bind.
    if (!(await page.evaluate('typeof axe !== "undefined"'))) await page.evaluate(axe.source)
    // The terminal library draws its own rows for screen readers.
    const { violations } = (await page.evaluate('axe.run({ exclude: [".xterm"] })')) as Results
    for (const { id, help, nodes } of violations)
      for (const { target, failureSummary = '' } of nodes)
        found.push(
          `${colorScheme} ${page.url().replace(/^.*#/, '#')}: ${id} (${help}) ${target.join(' ')} ${failureSummary}`,
        )
  }
  await page.emulateMedia({ colorScheme: 'light' })
  return found
}
