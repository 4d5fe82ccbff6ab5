-- Runs a statement if the options have the one of this name.
IF JSON_CONTAINS_PATH(p_options, 'one', '$.{first}') THEN
      {rest};
    END IF
