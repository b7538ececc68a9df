import { expect, test } from 'vitest'
import { createMayReach, privateNetworks } from '#lib/platform/outgoing-addresses.ts'

test.for(['169.254.0.23', '169.254.42.42', 'fd00:42::42', '::ffff:169.254.42.42'])(
  'what a cloud hands out at %s is no storage and no catalog, whichever ranges are allowed',
  address => {
    for (const allowed of [privateNetworks, ['0.0.0.0/0', '::/0']]) expect(createMayReach(allowed)(address)).toBe(false)
    expect(createMayReach(['169.254.0.23', '169.254.42.42', 'fd00:42::42'])(address)).toBe(true)
  },
)
