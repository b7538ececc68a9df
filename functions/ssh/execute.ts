import { endpoint } from '#lib/http/endpoint.ts'
import { SshRequest, SshResult } from '#lib/ssh/schemas.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/ssh/execute',
  summary: 'Run a command on a remote host over SSH',
  access: { claims: ['EXECUTE_SSH'] },
  effect: 'change',
  uses: ['ssh'],
  body: SshRequest,
  // Neither what is run nor what it runs with: either may hold a secret.
  audited: ['host', 'port', 'username'],
  faults: ['upstream', 'timeout'],
  reply: SshResult,
}).handle(({ body, signal }, { ssh }) => ssh.execute(body, signal))
