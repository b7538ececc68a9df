import { severalHostsContract } from '../contracts/several-hosts.ts'
import { rootPassword } from '../support/identity.ts'
import { startEdge } from '../support/workerd/edge.ts'

severalHostsContract('at the edge', async () => {
  // The hosts of the test are on this computer.
  const edge = await startEdge({
    network: ['public', 'private', 'local'],
    variables: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_ISSUER: 'https://control.example.test' },
  })
  const { url } = edge
  return {
    url,
    issuer: 'https://control.example.test',
    jwks: `${url}/.well-known/jwks.json`,
    close: edge.kill,
    start: edge.start,
    [Symbol.asyncDispose]: () => edge[Symbol.asyncDispose](),
  }
})
