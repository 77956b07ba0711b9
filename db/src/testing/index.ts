export { openTestDatabase, type TestDatabase } from "./open-test-database.ts";
export { insertTestChat, insertTestGeneration, insertTestMessage, type TestChat } from "./test-rows.ts";
