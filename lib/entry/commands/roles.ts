import { Command } from 'commander'
import type { RoleRecord } from '#lib/auth/role-schemas.ts'
import { jsonText, tableText } from '../admin/text-table.ts'
import { list, type Run } from './run.ts'

const at = (role: string, ...rest: readonly string[]): string =>
  ['/auth/roles', ...[role, ...rest].map(encodeURIComponent)].join('/')

const rowOf = ({ name, claims, users, internal }: RoleRecord): readonly string[] => [
  name,
  `${claims.length} ${claims.length === 1 ? 'claim' : 'claims'}`,
  users.map(({ username }) => username).join(' '),
  internal ? 'part of the service' : '',
]

/** `vmhost roles …` */
export const rolesCommand = (run: Run): Command => {
  const roles = new Command('roles').description('Roles: named sets of claims')

  run(roles.command('list').description('List the roles').option('--json', 'as JSON'), async (ask, { options }) => {
    const all = await ask<RoleRecord[]>('GET', '/auth/roles')
    if (options['json']) console.log(jsonText(all))
    else console.log(tableText([['ROLE', 'GIVES', 'USERS', ''], ...all.map(rowOf)]))
  })
  run(
    roles
      .command('add')
      .description('Add a role')
      .argument('<role>')
      .option('--claim <name>', 'claim; repeat the option for several', list, [])
      .option('--description <text>', 'purpose of the role'),
    async (ask, { args: [name = ''], options }) => {
      const { description } = options
      const role = await ask<RoleRecord>('POST', '/auth/roles', {
        name,
        claims: options['claim'],
        ...(description !== undefined && { description }),
      })
      console.log(`Added ${role.name} with ${role.claims.map(claim => claim.name).join(', ') || 'no claims'}.`)
    },
  )
  run(
    roles.command('grant').description('Add claims to a role').argument('<role>').argument('<claims...>'),
    async (ask, { args: [role = '', ...claims] }) => {
      for (const name of claims) {
        await ask('POST', at(role, 'claims'), { name })
        console.log(`${role} has ${name}.`)
      }
    },
  )
  run(
    roles.command('revoke').description('Remove claims from a role').argument('<role>').argument('<claims...>'),
    async (ask, { args: [role = '', ...claims] }) => {
      for (const name of claims) {
        await ask('DELETE', at(role, 'claims', name))
        console.log(`${role} does not have ${name} any more.`)
      }
    },
  )
  run(
    roles.command('remove').description('Delete a role that no user has').argument('<role>'),
    async (ask, { args: [role = ''] }) => {
      await ask('DELETE', at(role))
      console.log(`Removed ${role}.`)
    },
  )
  return roles
}
