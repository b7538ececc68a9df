import type { FunctionComponent } from 'preact'
import { CachePage } from '../catalog/cache.tsx'
import { ManagerPage } from '../catalog/manager.tsx'
import { ManagersPage } from '../catalog/managers.tsx'
import { ManifestPage } from '../catalog/manifest.tsx'
import { ManifestsPage } from '../catalog/manifests.tsx'
import { HostPage } from '../hosts/host.tsx'
import { HostsPage } from '../hosts/hosts.tsx'
import { AccountPage } from '../people/account.tsx'
import { ApiKeysPage } from '../people/api-keys.tsx'
import { ClaimsPage } from '../people/claims.tsx'
import { RolePage } from '../people/role.tsx'
import { RolesPage } from '../people/roles.tsx'
import { UserPage } from '../people/user.tsx'
import { UsersPage } from '../people/users.tsx'
import { may } from '../state/session.ts'
import { AuditPage } from '../system/audit.tsx'
import { SystemPage } from '../system/system.tsx'
import { EventsPage } from './events.tsx'
import { ImagePage } from './image.tsx'
import { ImagesPage } from './images.tsx'
import { JobPage } from './job.tsx'
import { JobsPage } from './jobs.tsx'
import { MachinePage } from './machine.tsx'
import { MachinesPage } from './machines.tsx'
import { NotFound } from './not-found.tsx'
import { PoolPage } from './pool.tsx'
import { PoolsPage } from './pools.tsx'

/** What each page gets: the parts of the address after its name. */
export interface PageProps {
  readonly parts: readonly string[]
}

interface Page {
  readonly name: string
  readonly title: string
  /** The heading under which it stands. */
  readonly group: 'Machines' | 'Catalog' | 'Work' | 'People' | 'Service'
  /** The operation without which the page has nothing to show. */
  readonly needs: string
  readonly list: FunctionComponent<PageProps>
  /** The page of one thing of the list. */
  readonly detail?: FunctionComponent<PageProps>
}

const pages: readonly Page[] = [
  {
    name: 'machines',
    title: 'Machines',
    group: 'Machines',
    needs: 'machines.list',
    list: MachinesPage,
    detail: MachinePage,
  },
  { name: 'images', title: 'Images', group: 'Machines', needs: 'images.list', list: ImagesPage, detail: ImagePage },
  { name: 'pools', title: 'Pools', group: 'Machines', needs: 'pools.list', list: PoolsPage, detail: PoolPage },
  {
    name: 'catalog',
    title: 'Catalog',
    group: 'Catalog',
    needs: 'catalog.list',
    list: ManifestsPage,
    detail: ManifestPage,
  },
  { name: 'cache', title: 'Cache', group: 'Catalog', needs: 'catalogCache.list', list: CachePage },
  {
    name: 'managers',
    title: 'Managers',
    group: 'Catalog',
    needs: 'catalogManagers.list',
    list: ManagersPage,
    detail: ManagerPage,
  },
  { name: 'jobs', title: 'Jobs', group: 'Work', needs: 'jobs.list', list: JobsPage, detail: JobPage },
  { name: 'events', title: 'Events', group: 'Work', needs: 'events.list', list: EventsPage },
  { name: 'users', title: 'Users', group: 'People', needs: 'users.list', list: UsersPage, detail: UserPage },
  { name: 'roles', title: 'Roles', group: 'People', needs: 'roles.list', list: RolesPage, detail: RolePage },
  { name: 'claims', title: 'Claims', group: 'People', needs: 'claims.list', list: ClaimsPage },
  { name: 'api-keys', title: 'API keys', group: 'People', needs: 'auth.listApiKeys', list: ApiKeysPage },
  { name: 'account', title: 'Your account', group: 'People', needs: 'auth.changePassword', list: AccountPage },
  { name: 'hosts', title: 'Hosts', group: 'Service', needs: 'hosts.list', list: HostsPage, detail: HostPage },
  { name: 'audit', title: 'Audit', group: 'Service', needs: 'audit.list', list: AuditPage },
  { name: 'system', title: 'System', group: 'Service', needs: 'health.system', list: SystemPage },
]

/** The pages that the present user has. */
export const listPages = (): readonly Page[] => pages.filter(({ needs }) => may(needs))

/** The component of the page at an address. */
export const findPage = ([name = '', thing]: readonly string[]): FunctionComponent<PageProps> => {
  const open = listPages()
  const page = name === '' ? open[0] : open.find(one => one.name === name)
  return (thing ? page?.detail : page?.list) ?? NotFound
}
