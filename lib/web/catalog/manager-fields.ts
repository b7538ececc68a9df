import type { CatalogManager } from '#lib/client/api.gen.ts'
import type { FieldOptions, Values } from '../parts/field.tsx'
import { splitWords } from '../parts/form-text.ts'

/** The fields of a catalog manager, filled with those of a present one. An empty secret leaves the stored one. */
export const managerFields = (present?: CatalogManager): readonly FieldOptions[] => [
  { name: 'name', label: 'Name', value: present?.name ?? '', isRequired: true },
  { name: 'url', label: 'Address', kind: 'url', value: present?.url ?? '', isRequired: true },
  {
    name: 'method',
    label: 'Sign in with',
    kind: 'select',
    value: present?.authentication_method ?? 'credentials',
    options: [
      ['credentials', 'user name and password'],
      ['api_key', 'API key'],
    ],
  },
  { name: 'username', label: 'User name' },
  { name: 'password', label: 'Password', kind: 'password' },
  { name: 'key', label: 'API key', kind: 'password' },
  { name: 'global', label: 'For all users', kind: 'checkbox', value: String(present?.global ?? false) },
  { name: 'claims', label: 'Required claims', value: present?.required_claims.join(' ') ?? '' },
]

/** The body of a request for a catalog manager. */
export const readManager = ({ name, url, method, username, password, key, global, claims = '' }: Values) => ({
  name,
  url,
  authentication_method: method,
  global: global !== '',
  ...(username && { username }),
  ...(password && { password }),
  ...(key && { api_key: key }),
  ...(claims.trim() && { required_claims: splitWords(claims) }),
})
