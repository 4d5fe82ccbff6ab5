-- Rights and comment of a procedure that only other procedures call; the argument is its access.
{arg} SQL SECURITY DEFINER
COMMENT 'Allot: not to be called from outside'
