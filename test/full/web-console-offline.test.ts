import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { withoutChromium } from '../support/web/browser.ts'

/** Who is not root needs a namespace of users too. */
const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
/** A network namespace of its own: only its loopback, and no way out. */
const inOwnNetwork = [...asRoot, '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']
const why =
  withoutChromium ??
  (spawnSync('unshare', [...inOwnNetwork, 'true']).status === 0 ? undefined : 'no network namespace can be made')

test.skipIf(why !== undefined)(
  `the whole walk works without any network${why === undefined ? '' : ` (${why})`}`,
  () => {
    const walk = [
      '--config',
      'vitest.full.config.ts',
      '--reporter=default',
      'test/full/web-console.test.ts',
      '-t',
      'pointer',
    ]
    const { status, stdout, stderr } = spawnSync('unshare', [...inOwnNetwork, 'npx', 'vitest', 'run', ...walk], {
      encoding: 'utf8',
    })
    expect(status, stdout + stderr).toBe(0)
    expect(stdout).toMatch(/1 passed/)
  },
)
