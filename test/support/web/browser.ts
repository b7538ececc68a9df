import { spawnSync } from 'node:child_process'
import { type Browser, chromium } from 'playwright-core'

/** The Chromium of the system; `CHROMIUM` names another one than those of the path. */
export const chromiumProgram = [process.env['CHROMIUM'] ?? 'chromium', 'chromium-browser', 'google-chrome'].find(
  program => spawnSync(program, ['--version']).status === 0,
)

const findPath = (program: string): string =>
  program.startsWith('/') ? program : spawnSync('which', [program], { encoding: 'utf8' }).stdout.trim()

/** Why tests in a browser are skipped; undefined where there is one. */
export const withoutChromium = chromiumProgram === undefined ? 'Chromium is not installed' : undefined

/** Opens the Chromium of the system. It asks nobody else. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: findPath(chromiumProgram!),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  })
