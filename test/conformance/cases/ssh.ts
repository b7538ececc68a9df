import type { Area } from '../case.ts'
import { answers, audited } from './effects.ts'

const path = '/v1/ssh/execute'
const target = {
  host: '127.0.0.1',
  port: '{sshPort}',
  username: '{sshUser}',
  key: '{sshKey}',
  enable_insecure_key: true,
}

export const sshArea: Area = {
  name: 'commands over SSH',
  withHost: true,
  needs: ['ssh host'],
  people: { jane: { claims: ['EXECUTE_SSH'] } },
  cases: [
    {
      name: 'run a command',
      as: 'jane',
      request: ['POST', path, { ...target, command: 'echo hello' }],
      status: 200,
      reply: { output: 'hello\n' },
      effects: [
        audited('ssh/execute', {
          username: 'jane',
          details: { host: '127.0.0.1', command: undefined, key: undefined },
        }),
      ],
    },
    {
      name: 'run a command that fails',
      request: ['POST', path, { ...target, command: 'exit 3' }],
      status: 200,
      effects: [audited('ssh/execute')],
    },
    { name: 'a key that is none', request: ['POST', path, { ...target, key: 'none', command: 'true' }], status: 400 },
    {
      name: 'the same Idempotency-Key runs a command once',
      request: [
        'POST',
        path,
        { ...target, command: 'mkdir {sshFolder}/once && echo made' },
        { 'idempotency-key': 's-1' },
      ],
      status: 200,
      reply: { output: 'made\n', error: '' },
      effects: [
        answers(
          200,
          ['POST', path, { ...target, command: 'mkdir {sshFolder}/once && echo made' }, { 'idempotency-key': 's-1' }],
          'root',
          { output: 'made\n', error: '' },
        ),
      ],
    },
  ],
}
