import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type DescribedService, installFromPyPi, run, startDescribedService } from './openapi-service.ts'

/** Cases that it makes up for each operation, beside those of the examples and of the limits of each schema. */
const cases = process.env['SCHEMATHESIS_CASES'] ?? '20'

/** Gives what schemathesis says of the operations that `selection` leaves. */
const examine = async (
  { document, url }: DescribedService,
  folder: string,
  token: string,
  ...selection: readonly string[]
): Promise<string> => {
  const { output } = await run(folder, 'st', [
    ...['run', document, '--url', url, '--header', `Authorization: Bearer ${token}`, ...selection],
    ...['--phases', 'examples,coverage,fuzzing', '--max-examples', cases, '--request-timeout', '30', '--seed', '7'],
    ...['--continue-on-failure', '--no-shrink', '--suppress-health-check', 'all', '--warnings', 'off'],
  ])
  return output
}

const signOut = 'auth.sign-out'

/** Whether the service knows this token: one that has ended has everything refused, and nothing examined. */
const lasts = async ({ url }: DescribedService, token: string): Promise<boolean> =>
  (await fetch(`${url}/api/v1/health/system`, { headers: { authorization: `Bearer ${token}` } })).status === 200

// Each has a service of its own: it goes on with what it finds in replies, and as root it deletes the users that it has seen.
test.concurrent.for(['root', 'user'] as const)(
  'schemathesis as %s finds no reply that the document does not say, by good requests and bad ones',
  async as => {
    await using service = await startDescribedService()
    const folder = service.folder('schemathesis')
    await installFromPyPi(folder, ['schemathesis==4.32.5'])
    copyFileSync(join(import.meta.dirname, 'schemathesis.toml'), join(folder, 'schemathesis.toml'))
    // Before its many failed sign-ins, after which nobody can from this address.
    const [token, other] = [await service.signIn(as), await service.signIn(as)]
    const output = await examine(service, folder, token, '--exclude-operation-id', signOut)
    expect(output).toMatch(/Tested: 1\d\d/)
    expect(output).toMatch(/No issues found/)
    expect([await lasts(service, token), await lasts(service, other)]).toEqual([true, true])
    // It ends the token that the others go by.
    expect(await examine(service, folder, other, '--include-operation-id', signOut)).toMatch(/No issues found/)
    expect(await lasts(service, other)).toBe(false)
  },
)
