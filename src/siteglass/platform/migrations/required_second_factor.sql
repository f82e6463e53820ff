-- People of an account that requires a second factor set one up before anything else. Its keys are not affected.
ALTER TABLE {schema}.accounts ADD COLUMN second_factor_required boolean NOT NULL DEFAULT false;
