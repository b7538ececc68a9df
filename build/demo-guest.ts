/** Writes the demo guest as the asset that the service loads; `--check` fails where the one on disk is stale. */
import { readFileSync, writeFileSync } from 'node:fs'
import { buildGuest } from './demo-guest/guest.ts'

const file = 'lib/hypervisor/demo-guest.gen.ts'
const text = `// Written by build/demo-guest.ts. Do not edit; run \`npm run demo-guest\`.
/** The demo guest, a multiboot kernel. build/demo-guest/guest.ts has its source and says what it does. */
export const demoGuest: Uint8Array = new Uint8Array(
  Buffer.from(
    '${Buffer.from(buildGuest()).toString('base64')}',
    'base64',
  ),
)
`
if (!process.argv.includes('--check')) writeFileSync(file, text)
else if (readFileSync(file, 'utf8') !== text) throw new Error(`${file} is stale; run npm run demo-guest`)
