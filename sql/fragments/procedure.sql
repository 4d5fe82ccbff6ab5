-- The head of a procedure, which replaces an earlier one of this name.
DROP PROCEDURE IF EXISTS /*!80000 {arg} */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE {arg}
