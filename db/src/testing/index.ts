export { openTestDatabase, type TestDatabase } from "./open-test-database.ts";
export {
  insertAnotherChat,
  insertTestChat,
  insertTestGeneration,
  insertTestMessage,
  type TestChat,
} from "./test-rows.ts";
