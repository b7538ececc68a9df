import type { FunctionComponent } from 'preact'
import { may } from '../state/session.ts'
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
  /** The operation without which the page has nothing to show. */
  readonly needs: string
  readonly list: FunctionComponent<PageProps>
  /** The page of one thing of the list. */
  readonly detail?: FunctionComponent<PageProps>
}

const pages: readonly Page[] = [
  { name: 'machines', title: 'Machines', needs: 'machines.list', list: MachinesPage, detail: MachinePage },
  { name: 'images', title: 'Images', needs: 'images.list', list: ImagesPage, detail: ImagePage },
  { name: 'pools', title: 'Pools', needs: 'pools.list', list: PoolsPage, detail: PoolPage },
  { name: 'jobs', title: 'Jobs', needs: 'jobs.list', list: JobsPage, detail: JobPage },
  { name: 'events', title: 'Events', needs: 'events.list', list: EventsPage },
]

/** The pages that the present user has. */
export const listPages = (): readonly Page[] => pages.filter(({ needs }) => may(needs))

/** The component of the page at an address. */
export const findPage = ([name = '', thing]: readonly string[]): FunctionComponent<PageProps> => {
  const open = listPages()
  const page = name === '' ? open[0] : open.find(one => one.name === name)
  return (thing ? page?.detail : page?.list) ?? NotFound
}
