import { expect, test } from 'vitest'
import { createClientAddress, isAddressRule } from '#lib/platform/client-address.ts'

const none = createClientAddress([])
const some = createClientAddress(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'])

test.for([
  ['nobody is trusted', none, '10.0.0.1', '198.51.100.1', '10.0.0.1'],
  ['IPv4 in IPv6', none, '::ffff:198.51.100.1', undefined, '198.51.100.1'],
  ['a proxy speaks for somebody', some, '10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['a proxy by its IPv6 clothing', some, '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['a chain of proxies', some, '10.0.0.1', '198.51.100.1, 10.2.2.2, 192.0.2.7', '198.51.100.1'],
  ['what a client made up stands left of what is true', some, '10.0.0.1', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
  ['a client that is no proxy', some, '198.51.100.1', '1.1.1.1', '198.51.100.1'],
  ['garbage ends the walk', some, '10.0.0.1', '198.51.100.1, garbage', '10.0.0.1'],
  ['garbage further left', some, '10.0.0.1', 'garbage, 10.2.2.2', '10.2.2.2'],
  ['nothing', some, '10.0.0.1', '', '10.0.0.1'],
  ['a port', some, '10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
  ['IPv6 with brackets and port', some, '2001:db8::1', '[2001:db9::5]:4711', '2001:db9::5'],
  ['IPv6 with a zone', some, '10.0.0.1', 'fe80::1%eth0', 'fe80::1'],
] as const)('%s', ([, clientAddress, peer, forwarded, address]) => {
  expect(clientAddress(peer, () => forwarded)).toBe(address)
})

test.for([
  ['10.0.0.0/8', true],
  ['::1', true],
  ['2001:db8::/32', true],
  ['10.0.0.0/33', false],
  ['10.0.0', false],
  ['example.org', false],
  ['10.0.0.0/8/8', false],
  ['10.0.0.0/x', false],
] as const)('%s is a rule: %s', ([rule, is]) => {
  expect(isAddressRule(rule)).toBe(is)
})
