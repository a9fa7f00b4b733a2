import type { App } from '@keyward/contract'
import { Card, CardBody, CardHeader } from '../../../ui/card.tsx'
import { Integration } from './integration.tsx'
import { IntegrationLinks } from './integration-links.tsx'

/** What a program needs, as a part of the app's page. */
export function IntegrationTab({ app }: { app: App }) {
  return (
    <Card aria-label={`Integrate ${app.name}`}>
      <CardHeader
        title={`Integrate ${app.name}`}
        description="Paste this into your program, so that it runs only with a valid license."
        actions={<IntegrationLinks />}
      />
      <CardBody className="grid gap-4">
        <Integration app={app} />
      </CardBody>
    </Card>
  )
}
