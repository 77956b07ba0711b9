import {
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from "kysely";
import { isSentAlong } from "./round-trips.ts";
import type { Answer, Session, Sessions } from "./sessions.ts";

/** Kysely on our sessions. */
export function sessionDialect(sessions: Sessions): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => createDriver(sessions),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

interface SessionConnection extends DatabaseConnection {
  readonly session: Session;
}

function createDriver(sessions: Sessions): Driver {
  const sessionOf = (connection: DatabaseConnection) => (connection as SessionConnection).session;
  return {
    init: async () => {},
    acquireConnection: async () => connectionOn(await sessions.reserve()),
    async beginTransaction(connection, { isolationLevel, accessMode }) {
      if (isolationLevel ?? accessMode) throw new Error("a session begins every transaction the same way");
      sessionOf(connection).begin();
    },
    commitTransaction: (connection) => sessionOf(connection).commit(),
    rollbackTransaction: (connection) => sessionOf(connection).rollback(),
    releaseConnection: async (connection) => sessionOf(connection).release(),
    destroy: () => sessions.end(),
  };
}

function connectionOn(session: Session): SessionConnection {
  return {
    session,
    executeQuery: <Row>(query: CompiledQuery) => execute(session, query) as Promise<QueryResult<Row>>,
    streamQuery() {
      throw new Error("rows are read whole: no query here streams them");
    },
  };
}

async function execute(session: Session, query: CompiledQuery): Promise<QueryResult<unknown>> {
  const { sql: text, parameters } = query;
  if (isSentAlong(query)) {
    session.sendAlong({ text, parameters });
    return { rows: [] };
  }
  return resultOf(await session.run({ text, parameters }));
}

const CHANGES = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

function resultOf(answer: Answer): QueryResult<unknown> {
  const rows = [...answer];
  return CHANGES.has(answer.command) ? { rows, numAffectedRows: BigInt(answer.count) } : { rows };
}
