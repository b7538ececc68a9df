import { Command } from 'commander'
import type { RoleRecord } from '#lib/auth/role-schemas.ts'
import { formatJson, formatTable } from '../admin/text-table.ts'
import type { CommandContext } from './context.ts'
import { collectValues } from './invocation.ts'

const toRolePath = (role: string, ...rest: readonly string[]): string =>
  ['/auth/roles', ...[role, ...rest].map(encodeURIComponent)].join('/')

const toRow = ({ name, claims, users, internal }: RoleRecord): readonly string[] => [
  name,
  `${claims.length} ${claims.length === 1 ? 'claim' : 'claims'}`,
  users.map(({ username }) => username).join(' '),
  internal ? 'part of the service' : '',
]

/** `vmhost roles …` */
export const createRolesCommand = ({ register }: CommandContext): Command => {
  const roles = new Command('roles')

  register(
    roles.command('list').description('List the roles').option('--json', 'as JSON'),
    async (callApi, { options }) => {
      const all = await callApi<RoleRecord[]>('GET', '/auth/roles')
      if (options['json']) console.log(formatJson(all))
      else console.log(formatTable([['ROLE', 'GIVES', 'USERS', ''], ...all.map(toRow)]))
    },
  )
  register(
    roles
      .command('add')
      .description('Add a role')
      .argument('<role>')
      .option('--claim <name>', 'claim; repeat the option for several', collectValues, [])
      .option('--description <text>', 'purpose of the role'),
    async (callApi, { args: [name = ''], options }) => {
      const { description } = options
      const role = await callApi<RoleRecord>('POST', '/auth/roles', {
        name,
        claims: options['claim'],
        ...(description !== undefined && { description }),
      })
      console.log(`Added ${role.name} with ${role.claims.map(claim => claim.name).join(', ') || 'no claims'}.`)
    },
  )
  register(
    roles.command('grant').description('Add claims to a role').argument('<role>').argument('<claims...>'),
    async (callApi, { args: [role = '', ...claims] }) => {
      for (const name of claims) {
        await callApi('POST', toRolePath(role, 'claims'), { name })
        console.log(`${role} has ${name}.`)
      }
    },
  )
  register(
    roles.command('revoke').description('Remove claims from a role').argument('<role>').argument('<claims...>'),
    async (callApi, { args: [role = '', ...claims] }) => {
      for (const name of claims) {
        await callApi('DELETE', toRolePath(role, 'claims', name))
        console.log(`${role} does not have ${name} any more.`)
      }
    },
  )
  register(
    roles.command('remove').description('Delete a role that no user has').argument('<role>'),
    async (callApi, { args: [role = ''] }) => {
      await callApi('DELETE', toRolePath(role))
      console.log(`Removed ${role}.`)
    },
  )
  return roles
}
