import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { version } from '#lib/compose/version.ts'
import { startHost } from './host.ts'
import type { Runtime } from './runtime.ts'

const file = resolve(`dist/binary/vmhost-${version}-${process.platform}-${process.arch}`)

/** The single executable for this platform, which contains its Node. */
export const executable: Runtime = {
  name: 'executable',
  absence: existsSync(file) ? '' : 'it is not built; run `npm run binary`',
  start: ({ driver } = { withHost: false }) => startHost({ command: [file], driver }),
}
